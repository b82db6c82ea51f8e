import type { FunctionComponent } from 'react';
import type { TextKey } from '../../locales/index.ts';
import type { ActionProblem } from '../../views/account/account-action.tsx';
import type { FormPageProps } from '../../views/account/form-page.ts';
import { type PageContext, pageForm } from '../../views/page-context.ts';
import {
  type Action,
  type ActionDone,
  AddressWithNotice,
  asksAhead,
  enforcesLike,
  type Form,
  listOpenNames,
  type NextPage,
  type OpenInput,
  type PageHandler,
  type RefusedForm,
  type RequestContext,
  submitAction,
  type T,
  toControls,
  toTyped,
  unavailableRetrySeconds,
  type WithKeptInput,
} from '../http/index.ts';
import type { Origin } from '../messages/index.ts';
import type { SessionIdHash } from '../shared/index.ts';
import type { UserRequest } from '../sign-in/index.ts';
import { StoreUnavailable } from '../store/index.ts';
import type { User } from '../users/index.ts';
import type { AccountDeps } from './deps.ts';
import type { KeptFields } from './form-drafts.ts';

/** The page's own limits are below it. */
const maxDraftLength = 1_000;

type MaybeAsync<Value> = Value | Promise<Value>;

/** The properties that the visit or the form decides. JSON values; never passwords or keys. */
type PageState<Props> = Partial<Omit<Props, 'ctx' | 'action'>>;
type RefusedState<Props> = PageState<Props> & { status: number };

/** A page of the settings with a form: GET shows it, POST acts. */
interface SettingsPage<R extends UserRequest, Props extends { ctx: PageContext; action: string }> {
  path: string;
  /** The query belongs to the page's address: it names what the page is about. */
  withQuery?: true;
  title: TextKey | ((t: T, props: Omit<Props, 'ctx'>) => string);
  guard: (handler: PageHandler<AccountDeps, R>, keep?: KeptFields) => PageHandler<AccountDeps>;
  Page: FunctionComponent<Props>;
  /** The properties, unless the state of the page has others; a string is the address of a page that fits better. */
  toProps(r: R, deps: AccountDeps): MaybeAsync<Omit<Props, 'ctx' | 'action'> | NextPage>;
  /** Before a visit: its state, or the address of a page that fits better. */
  open?(r: R, deps: AccountDeps): MaybeAsync<PageState<Props> | string | undefined>;
  /** The fields that the page shows again after a re-authentication or a new sign-in. No secrets. */
  draft?: {
    fields: KeptFields;
    toState(input: OpenInput): PageState<Props>;
    /** The page has the form with the id {@link pageForm}: its input also stays when another language is chosen. */
    hasForm?: (deps: AccountDeps) => boolean;
  };
  /** @returns the address of the next page, or the refused form's state; undefined: it has answered by itself */
  act(r: R, deps: AccountDeps): MaybeAsync<NextPage | RefusedState<Props> | undefined>;
}

/** The handlers of a page. */
export interface PageRoute {
  path: string;
  get?: PageHandler<AccountDeps>;
  post?: PageHandler<AccountDeps>;
}

export function settingsPage<R extends UserRequest, Props extends { ctx: PageContext; action: string }>(
  page: SettingsPage<R, Props>,
) {
  const { path, title, guard, draft } = page;
  const guarded = guard(submit, draft?.fields);

  async function render(r: R, deps: AccountDeps, state: PageState<Props> & { status?: number }): Promise<void> {
    const address = page.withQuery ? r.req.originalUrl : path;
    const view = r.viewAt<typeof state & WithKeptInput>(address, state);
    if (!view) return;
    const props = await page.toProps(r, deps);
    if (typeof props === 'string' || props instanceof AddressWithNotice) return r.redirect(props);
    const { status, keptInput, ...decided } = view;
    // TypeScript does not see that the parts make up `Props`.
    const inputState = keptInput && draft?.toState(keptInput);
    const all = Object.assign({ action: address }, props, decided, inputState) as Omit<Props, 'ctx'>;
    const keeps = draft?.hasForm?.(deps) && { form: pageForm, names: Object.keys(draft.fields) };
    r.render(page.Page, all, {
      title: typeof title === 'string' ? title : () => title(r.t, all),
      address,
      status,
      ...(keeps && { keeps }),
    });
  }

  async function show(r: R, deps: AccountDeps): Promise<void> {
    const opened = await page.open?.(r, deps);
    if (typeof opened === 'string') return r.redirect(opened);
    const typed = draft && !asksAhead(r.req) ? await deps.formDrafts.takeDraft(r) : undefined;
    await render(r, deps, { ...(typed && draft?.toState(typed)), ...opened });
  }

  async function submit(r: R, deps: AccountDeps): Promise<void> {
    const answer = await page.act(r, deps);
    if (typeof answer === 'string' || answer instanceof AddressWithNotice) r.redirect(answer);
    else if (answer) await render(r, deps, answer);
  }

  /** `refuse` shows the page with what another page's form could not do. */
  /** A form that was sent after its session had ended elsewhere. */
  const post = enforcesLike(guarded, async (r: RequestContext, deps: AccountDeps) => {
    if (draft) await deps.formDrafts.saveSignedOut(r, draft.fields);
    return guarded(r, deps);
  });

  return { path, get: guard(show), post, refuse: render };
}

/** The user of an action, and the browser for the notice about it. */
export interface ActionCaller {
  user: User;
  from: Origin;
  /** The session of a page's form; a call has none. */
  browser?: SessionIdHash;
}

type Names<Fields extends Form> = keyof Fields & string;

/** The form of an action as its page opens it. */
export const openForm = <Fields extends Form>(
  form: Fields,
  values: Record<Names<Fields>, string>,
): Pick<FormPageProps<Names<Fields>>, 'controls' | 'values' | 'errors'> => ({
  controls: toControls(form),
  values,
  errors: {},
});

/**
 * The draft of a page with the form of an action: all of its fields but the secrets.
 * @param lengths of fields whose input is never that long
 */
export const formDraft = <Fields extends Form>(form: Fields, lengths: KeptFields = {}) => ({
  fields: Object.fromEntries(listOpenNames(form).map((name) => [name, lengths[name] ?? maxDraftLength])),
  toState: (input: OpenInput) => ({ values: toTyped(form, input) }),
  hasForm: () => true,
});

interface FormAct<Fields extends Form, Result extends { kind: string }> {
  action: Action<AccountDeps, ActionCaller, Fields, Result>;
  /** Above a refused form. */
  toProblem(r: UserRequest, refused: RefusedForm<Fields>): ActionProblem | undefined;
  /** @returns the address of the next page */
  after(r: UserRequest, deps: AccountDeps, done: ActionDone<Result>): NextPage;
}

/** The act of a page with the form of an action. A refused form keeps the input, also if a store is unavailable. */
export function formAct<Fields extends Form, Result extends { kind: string }>(act: FormAct<Fields, Result>) {
  const { action } = act;

  async function submit(r: UserRequest, deps: AccountDeps): Promise<ActionDone<Result> | RefusedForm<Fields>> {
    try {
      return await submitAction(r, action, {
        deps,
        caller: { user: r.user, from: r.origin, browser: r.session.idHash },
      });
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      r.log.error({ err: error, act: action.id }, 'store unavailable');
      r.setRetryAfter(unavailableRetrySeconds * 1000);
      const { typed } = r.form(action.form);
      return {
        kind: 'refused-form',
        status: 503,
        refusal: undefined,
        typed,
        errors: {},
        text: r.t('settings.unavailable'),
      };
    }
  }

  return async (r: UserRequest, deps: AccountDeps) => {
    const result = await submit(r, deps);
    if (!isRefused(result)) return act.after(r, deps, result);
    const { status, typed: values, errors } = result;
    return { status, values, errors, problem: act.toProblem(r, result) };
  };
}

const isRefused = <Fields extends Form>(result: { kind: string }): result is RefusedForm<Fields> =>
  result.kind === 'refused-form';
