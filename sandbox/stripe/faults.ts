/**
 * `lost`: executed, and the connection ends before the answer. `unreachable`: not executed, the connection ends.
 * `error`: not executed, Stripe answers 500. `kept-error`: the same, and the request's key has this answer from now on
 * (docs.stripe.com/api/idempotent_requests: a 500 is stored like any other answer once the execution has started).
 * `rate-limit`: not executed, Stripe answers 429.
 */
export type FaultKind = 'lost' | 'unreachable' | 'error' | 'kept-error' | 'rate-limit';
type Matches = (method: string, path: string) => boolean;

export type Faults = ReturnType<typeof createFaults>;

/** The planned faults of tests, each once. */
export function createFaults() {
  const planned: { kind: FaultKind; matches: Matches }[] = [];
  const retries = new Set<string>();
  return {
    plan(kind: FaultKind, matches: Matches = () => true): void {
      planned.push({ kind, matches });
    },
    /**
     * The fault for this request. The library retries once by itself when a connection ends, whatever its retry
     * setting: that second attempt fails too, or the product would never see the fault.
     * @param caller `library`: whether Stripe's library for servers calls; `key`: the idempotency key
     */
    take(method: string, path: string, caller: { library: boolean; key: string | undefined }): FaultKind | undefined {
      const request = `${method} ${path} ${caller.key ?? ''}`;
      if (retries.delete(request)) return 'unreachable';
      const at = planned.findIndex(({ matches }) => matches(method, path));
      const kind = at < 0 ? undefined : planned.splice(at, 1)[0]?.kind;
      if (caller.library && (kind === 'lost' || kind === 'unreachable')) retries.add(request);
      return kind;
    },
  };
}
