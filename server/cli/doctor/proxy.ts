import { type ProbeReport, probeHeader, signProbe } from '../../http/index.ts';
import { judgeClient, judgeHeaders, judgeProbe } from './checks-address.ts';
import type { Finding } from './finding.ts';
import type { Setup } from './setup.ts';
import { fetchUrl, parseJson } from './web.ts';

/** RFC 5737: an address that is never assigned. */
const forgedAddress = '192.0.2.66';

const isReport = (value: unknown): value is ProbeReport =>
  typeof value === 'object' &&
  value !== null &&
  ['host', 'peer', 'client', 'protocol'].every((name) => typeof Reflect.get(value, name) === 'string');

/** Sends a probe signed with one of the keys; undefined if the server does not answer it. */
async function sendProbe({ config, web, now }: Setup, secretKey: string): Promise<ProbeReport | undefined> {
  const { PUBLIC_URL: publicUrl } = config;
  const headers = { 'x-forwarded-for': forgedAddress, [probeHeader]: signProbe(secretKey, publicUrl, now()) };
  const { text } = await fetchUrl(`${publicUrl}/readyz`, web, { headers });
  const seen = parseJson(text)?.seen;
  return isReport(seen) ? seen : undefined;
}

/**
 * The effect of the proxy on a request, reported by a server with the same SECRET_KEY: one request forges its origin.
 * Outside production no proxy may be in front of Foyer, and a forwarded request is refused.
 */
export async function checkProxy(setup: Setup): Promise<Finding[]> {
  const { config, say } = setup;
  const { SECRET_KEYS: keys, PUBLIC_URL: publicUrl } = config;
  if (!config.production || keys.length === 0) return [];
  try {
    for (const [index, key] of keys.entries()) {
      const seen = await sendProbe(setup, key);
      const outcome = index > 0 ? 'stale' : 'known';
      if (seen) return [...judgeProbe(outcome), ...judgeHeaders(seen, publicUrl), ...judgeClient(seen, forgedAddress)];
    }
    return judgeProbe('unknown');
  } catch (error) {
    return judgeProbe({ failed: say(error) });
  }
}
