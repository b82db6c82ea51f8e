const maxCallsPerMinute = 100_000;

/** @returns the fault of a client app's own limit of calls, in words for the operator; undefined if there is none */
export function callsPerMinuteFault(calls: number | undefined, service: boolean): string | undefined {
  if (calls === undefined) return undefined;
  if (!service) return 'calls-per-minute: is for clients that act for themselves: make it a service';
  const fits = Number.isInteger(calls) && calls >= 1 && calls <= maxCallsPerMinute;
  return fits ? undefined : `calls-per-minute: write a whole number from 1 to ${maxCallsPerMinute}`;
}
