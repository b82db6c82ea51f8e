import type { TextKey } from '../../locales/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import { HttpError, type HttpErrorOptions, toRetrySeconds } from './errors.ts';
import { type Form, type FormErrors, type FormValues, readTexts } from './forms.ts';
import { type T, translator } from './language.ts';
import type { ErrorKind } from './problems.ts';
import type { RequestContext } from './request-context.ts';

/** An action that was refused. `retryAfterMs`: a limit refused it, for this long. */
interface Refusal {
  kind: string;
  retryAfterMs?: number;
}

type RefusalText<Refused extends Refusal> = TextKey | ((t: T, refusal: Refused) => string);
type RefusalKind<Refused extends Refusal> = Pick<Refused, 'kind'>['kind'];

/** The answer to one kind of refusal, of the page and of the JSON API. */
export interface RefusalRule<Refused extends Refusal = Refusal> {
  /** The type of the API's problem; its status is also the page's, unless `pageStatus` says otherwise. */
  problem: ErrorKind;
  pageStatus?: number;
  text: RefusalText<Refused>;
  /** The form field at which the page shows the text; without it the text stands above the form. */
  field?: string;
  /** The API's text, if it is not the page's; null: that of the kind of problem. */
  apiText?: RefusalText<Refused> | null;
}

/** One rule for each kind of refusal of an action. */
export type RefusalRules<Refused extends Refusal> = {
  readonly [Kind in RefusalKind<Refused>]: RefusalRule<Refused & { kind: Kind }>;
};

const inputRule =
  <Problem extends ErrorKind>(problem: Problem) =>
  (text: TextKey, field?: string) => ({ problem, text, ...(field && { field }) });

/** The input is wrong. `field`: the form field that shows the text. */
export const wrongInput = inputRule('validation');
/** The code of a mail, a text message or an authenticator app is wrong. */
export const wrongCode = inputRule('wrongCode');
/** The code, or the flow in which it was sent, can no longer be used. */
export const expiredCode = inputRule('codeExpired');

/** A refusal in words. */
interface RefusalView {
  status: number;
  text: string;
  field?: string;
}

/** The rule of the refusal's own kind, which accepts this refusal. */
function findRule<Refused extends Refusal>(rules: RefusalRules<Refused>, refusal: Refused): RefusalRule<Refused> {
  const { kind }: Pick<Refused, 'kind'> = refusal;
  return rules[kind];
}

const toText = <Refused extends Refusal>(t: T, text: RefusalText<Refused>, refusal: Refused): string =>
  typeof text === 'string' ? t(text) : text(t, refusal);

/** A refusal for its page; sets `Retry-After` if a limit refused the action. */
export function refusalView<Refused extends Refusal>(
  r: RequestContext,
  rules: RefusalRules<Refused>,
  refusal: Refused,
): RefusalView {
  const { problem, pageStatus, text, field } = findRule(rules, refusal);
  if (refusal.retryAfterMs !== undefined) r.setRetryAfter(refusal.retryAfterMs);
  return {
    status: pageStatus ?? new HttpError(problem).status,
    text: toText(r.t, text, refusal),
    ...(field && { field }),
  };
}

/** A refusal as an error of the JSON API, in English. */
export function toRefusalError<Refused extends Refusal>(
  rules: RefusalRules<Refused>,
  refusal: Refused,
  more: HttpErrorOptions = {},
): HttpError {
  const { problem, text, field, apiText = text } = findRule(rules, refusal);
  const publicDetail = apiText === null ? undefined : toText(translator('en'), apiText, refusal);
  const isField = problem === 'validation' && field !== undefined && publicDetail !== undefined;
  return new HttpError(problem, {
    ...(publicDetail !== undefined && { publicDetail }),
    ...(isField && { invalidParams: [{ name: `body.${field}`, detail: publicDetail }] }),
    detail: refusal.kind,
    ...(refusal.retryAfterMs !== undefined && { retryAfterSeconds: toRetrySeconds(refusal.retryAfterMs) }),
    ...more,
  });
}

/** A result that is no refusal, and the refusal of the others. */
export type ActionDone<Result> = Exclude<Result, { kind: 'refused' }>;
type ActionRefusal<Result> = Result extends { kind: 'refused'; refusal: infer Refused extends Refusal }
  ? Refused
  : never;

/** One thing that a user does: the page and the call of the JSON API that offer it share its fields, rule and refusals. */
export interface Action<Deps, Caller, Fields extends Form, Result extends { kind: string }> {
  /** In the log, as `act`. */
  id: string;
  form: Fields;
  /** @returns `{ kind: 'refused', refusal }`, or what was done under any other kind */
  run(deps: Deps, caller: Caller, values: FormValues<Fields>): Promise<Result>;
  refusals: RefusalRules<ActionRefusal<Result>>;
}

/** Makes the types of an action from its parts. */
export const defineAction = <Deps, Caller, Fields extends Form, Result extends { kind: string }>(
  action: Action<Deps, Caller, Fields, Result>,
): Action<Deps, Caller, Fields, Result> => action;

/** The type of an action's result says that `refused` has a refusal. */
const isRefused = <Result extends { kind: string }>(
  result: Result,
): result is Result & { kind: 'refused'; refusal: ActionRefusal<Result> } => result.kind === 'refused';

const findRefusal = <Result extends { kind: string }>(result: Result): ActionRefusal<Result> | undefined =>
  isRefused(result) ? result.refusal : undefined;

/** A form whose action was refused. */
export interface RefusedForm<Fields extends Form, Kind extends string = string> {
  kind: 'refused-form';
  status: number;
  /** undefined: a field has a fault. */
  refusal: Kind | undefined;
  /** As it was typed, without secrets. */
  typed: Record<keyof Fields, string>;
  errors: FormErrors<Fields>;
  /** Above the form, if no field shows the reason. */
  text?: string | undefined;
}

/** Reads the form of an action and runs it. */
export async function submitAction<Deps, Caller, Fields extends Form, Result extends { kind: string }>(
  r: RequestContext,
  action: Action<Deps, Caller, Fields, Result>,
  { deps, caller }: { deps: Deps; caller: Caller },
): Promise<ActionDone<Result> | RefusedForm<Fields, RefusalKind<ActionRefusal<Result>>>> {
  const { typed, values, ...faults } = r.form(action.form);
  if (values === undefined) return { kind: 'refused-form', status: 400, refusal: undefined, typed, ...faults };
  const result = await action.run(deps, caller, values);
  const refusal = findRefusal(result);
  r.log.info({ act: action.id, outcome: toPublicOutcome(refusal?.kind ?? result.kind) }, 'form');
  if (refusal === undefined) return result as ActionDone<Result>;
  const { status, text, field } = refusalView(r, action.refusals, refusal);
  const id = Object.keys(action.form).find((one) => action.form[one]?.name === field);
  const view = id === undefined ? { errors: {}, text } : { errors: { [id]: text } as FormErrors<Fields> };
  return { kind: 'refused-form', status, refusal: refusal.kind, typed, ...view };
}

/** The faults of a form, as the invalid parts of a call's body. */
export const toInvalidParams = (form: Form, faults: Readonly<Record<string, string | readonly string[] | undefined>>) =>
  Object.entries(faults).flatMap(([id, details = []]) =>
    [details].flat().map((detail) => ({ name: `body.${form[id]?.name ?? id}`, detail })),
  );

/**
 * Runs an action for a call of the JSON API.
 * @param texts the fields by the names that the code uses
 * @throws {HttpError} validation, or as its refusals say
 */
export async function callAction<Deps, Caller, Fields extends Form, Result extends { kind: string }>(
  action: Action<Deps, Caller, Fields, Result>,
  { deps, caller, texts }: { deps: Deps; caller: Caller; texts: Readonly<Record<keyof Fields, string>> },
): Promise<ActionDone<Result>> {
  const { errors, values } = readTexts(action.form, texts, translator('en'));
  if (values === undefined) throw new HttpError('validation', { invalidParams: toInvalidParams(action.form, errors) });
  const result = await action.run(deps, caller, values);
  const refusal = findRefusal(result);
  if (refusal !== undefined) throw toRefusalError(action.refusals, refusal);
  return result as ActionDone<Result>;
}
