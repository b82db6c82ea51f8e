import { FederationRefusal } from '../identity.ts';

/** What a strategy of Passport ends with. Its errors reject instead. */
export type Outcome =
  | { kind: 'redirect'; url: string }
  | { kind: 'success'; user: unknown }
  /** What the strategy says of it is for developers, and may repeat what the provider sent. */
  | { kind: 'fail'; info: unknown };

/** Of a strategy, what Passport's own middleware uses; each wants its own kind of request and options. */
interface Running {
  authenticate(req: object, options: object): unknown;
}

/** For how long a provider may let a member wait, with all that is asked of it. */
export const answerMs = 10_000;

/**
 * Runs a strategy once, as Passport's middleware does: on a copy whose `success`, `fail`, `redirect` and `error` are this
 * run's. Neither a session nor the true request is given to it: `req` is what the strategy needs of one, and what it keeps
 * belongs to one attempt.
 * @param prepare gets the copy, with the function that ends the run
 * @throws {FederationRefusal} unreachable, when it takes longer than `withinMs`; and whatever the strategy says
 */
export function run<S extends object>(
  strategy: S,
  req: object,
  options: object,
  {
    withinMs = answerMs,
    prepare,
  }: { withinMs?: number | undefined; prepare?: (running: S, fail: (error: unknown) => void) => void } = {},
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new FederationRefusal('unreachable', 'no answer in time')), withinMs);
    const end = (outcome: Outcome) => {
      clearTimeout(timer);
      resolve(outcome);
    };
    const fail = (error: unknown) => {
      clearTimeout(timer);
      reject(error);
    };
    const running: S = Object.assign(Object.create(strategy), {
      success: (user: unknown) => end({ kind: 'success', user }),
      fail: (info: unknown) => end({ kind: 'fail', info }),
      redirect: (url: string) => end({ kind: 'redirect', url }),
      error: fail,
      pass: () => fail(new Error('a strategy passed')),
    });
    prepare?.(running, fail);
    Promise.resolve()
      .then(() => (running as unknown as Running).authenticate(req, options))
      .catch(fail);
  });
}
