import type { FunctionComponent } from 'react';
import type { TextKey } from '../../locales/index.ts';
import type { ActionProblem } from '../../views/account/account-action.tsx';
import type { FormPageProps } from '../../views/account/form-page.ts';
import {
  type Action,
  type ActionDone,
  type Form,
  type RefusedForm,
  submitAction,
  toControls,
  unavailableRetrySeconds,
} from '../http/index.ts';
import type { Origin } from '../messages/index.ts';
import type { UserRequest } from '../sign-in/index.ts';
import { StoreUnavailable } from '../store/index.ts';
import type { User } from '../users/index.ts';
import type { AccountDeps } from './deps.ts';

/** The user of an action, and the browser for the notice about it. */
export interface ActionCaller {
  user: User;
  from: Origin;
}

type Names<Fields extends Form> = keyof Fields & string;

/** A page of the settings with one form. */
export interface FormPage<
  Fields extends Form,
  Result extends { kind: string },
  Props extends FormPageProps<Names<Fields>>,
> {
  path: string;
  title: TextKey;
  Page: FunctionComponent<Props>;
  action: Action<AccountDeps, ActionCaller, Fields, Result>;
  /** The values in the form when it is opened. */
  toValues(r: UserRequest, deps: AccountDeps): Promise<Record<Names<Fields>, string>> | Record<Names<Fields>, string>;
  /** Above the opened form. */
  toNotice?(r: UserRequest): ActionProblem | undefined;
  /** Above a refused form. */
  toProblem(r: UserRequest, refused: RefusedForm<Fields>): ActionProblem | undefined;
  /** Further properties of the page. */
  toProps?(r: UserRequest, deps: AccountDeps): Omit<NoInfer<Props>, keyof FormPageProps<string>>;
  /** Answers after the action. */
  onDone(r: UserRequest, deps: AccountDeps, done: ActionDone<Result>): Promise<void> | void;
}

type FormPageState<Fields extends Form> = Pick<FormPageProps<Names<Fields>>, 'values'> &
  Partial<Pick<FormPageProps<Names<Fields>>, 'errors' | 'problem'>> & { status?: number };

/** The handlers of the page (GET) and its form (POST). A refused form keeps the input, also if a store is unavailable. */
export function formPage<
  Fields extends Form,
  Result extends { kind: string },
  Props extends FormPageProps<Names<Fields>>,
>(page: FormPage<Fields, Result, Props>) {
  const { path, title, Page, action } = page;
  const controls = toControls(action.form);

  function render(r: UserRequest, deps: AccountDeps, view: FormPageState<Fields>): void {
    const state = r.viewAt(path, view);
    if (!state) return;
    const { status, ...rest }: Partial<FormPageState<Fields>> = state;
    // A code that was refused on another page leads here with its reason alone.
    const props = { action: path, controls, values: view.values, errors: {}, ...page.toProps?.(r, deps), ...rest };
    // TypeScript does not see that the parts make up `Props`.
    r.render(Page, props as unknown as Omit<Props, 'ctx'>, { title, address: path, status });
  }

  async function submit(r: UserRequest, deps: AccountDeps): Promise<ActionDone<Result> | RefusedForm<Fields>> {
    try {
      return await submitAction(r, action, { deps, caller: { user: r.user, from: r.origin } });
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      r.log.error({ err: error, act: action.id }, 'store unavailable');
      r.setRetryAfter(unavailableRetrySeconds * 1000);
      const { typed } = r.form(action.form);
      return { kind: 'refused-form', status: 503, typed, errors: {}, text: r.t('settings.unavailable') };
    }
  }

  return {
    path,
    /** Shows the form again, with what was typed. */
    refuse(r: UserRequest, deps: AccountDeps, view: Omit<FormPageState<Fields>, 'values'>): void {
      render(r, deps, { ...view, values: r.form(action.form).typed });
    },
    async show(r: UserRequest, deps: AccountDeps): Promise<void> {
      render(r, deps, { values: await page.toValues(r, deps), problem: page.toNotice?.(r) });
    },
    async submit(r: UserRequest, deps: AccountDeps): Promise<void> {
      const result = await submit(r, deps);
      if (!isRefused(result)) return page.onDone(r, deps, result);
      const { status, typed: values, errors } = result;
      render(r, deps, { status, values, errors, problem: page.toProblem(r, result) });
    },
  };
}

const isRefused = <Fields extends Form>(result: { kind: string }): result is RefusedForm<Fields> =>
  result.kind === 'refused-form';
