/**
 * `lost`: carried out, and the connection ends before the answer. `unreachable`: not carried out, the connection ends.
 * `error`: not carried out, Stripe answers 500. `kept-error`: the same, and the request's key has this answer from now on
 * (docs.stripe.com/api/idempotent_requests: a 500 is kept as any other answer once a request was begun).
 */
export type FaultKind = 'lost' | 'unreachable' | 'error' | 'kept-error';
type Matches = (method: string, path: string) => boolean;

export type Faults = ReturnType<typeof createFaults>;

/** What tests make go wrong, each once. */
export function createFaults() {
  const planned: { kind: FaultKind; matches: Matches }[] = [];
  const retries = new Set<string>();
  return {
    plan(kind: FaultKind, matches: Matches = () => true): void {
      planned.push({ kind, matches });
    },
    /**
     * The fault that this request meets. The library asks once more by itself when a connection ends, whatever it was told
     * about retries: that second try is in vain, too, or the product would never see the fault.
     * @param caller `library`: whether Stripe's library for servers asks; `key`: the idempotency key
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
