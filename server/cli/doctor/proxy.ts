import { type ProbeReport, probeHeader, signProbe } from '../../http/index.ts';
import { type Finding, findingsFor, those } from './finding.ts';
import type { Setup } from './setup.ts';
import { fetchUrl, parseJson } from './web.ts';

const { ok, warning, fault } = findingsFor('proxy');

/** RFC 5737: an address that is never assigned. */
const forgedAddress = '192.0.2.66';

/** The received chain of addresses, the last connecting proxy at its end. */
function proxyChain({ forwardedFor, peer }: ProbeReport): string[] {
  const named = (forwardedFor ?? '').split(',').map((address) => address.trim());
  return [...named.filter((address) => address !== ''), peer];
}

/** An IPv4 address, also if it is mapped into IPv6. */
const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** The client address that Foyer computes when the client forged another. */
export function judgeClient(seen: ProbeReport, forged: string): Finding {
  const chain = proxyChain(seen).map(plain);
  const client = plain(seen.client);
  const forgedAt = chain.lastIndexOf(forged);
  // The forged address comes before those that proxies have added; the next is the client as the first proxy saw it.
  const real = chain[forgedAt + 1];
  const why = 'The limits of guesses count by address, and the log names it.';
  if (client === forged) {
    return fault('proxy.client', {
      seen: 'Foyer believes the address that a client claims in X-Forwarded-For.',
      why: `${why} Anyone can guess passwords without end, under a new address each time.`,
      todo: 'Lower TRUST_PROXY to the number of proxies that stand before Foyer, and let the outermost one replace the header (nginx: proxy_set_header X-Forwarded-For $remote_addr).',
    });
  }
  if (real === undefined || forgedAt === chain.length - 2 || seen.forwardedFor === null) {
    return fault('proxy.client', {
      seen: 'The proxy does not say where requests come from: X-Forwarded-For does not arrive, or as the client wrote it.',
      why: `${why} All members seem to come from ${client} and share one limit.`,
      todo: 'Let the proxy set it (nginx: proxy_set_header X-Forwarded-For $remote_addr).',
    });
  }
  if (client !== real) {
    return fault('proxy.client', {
      seen: `Foyer takes every member for ${client}, which is a proxy; the client was ${real}.`,
      why: `${why} All members share one limit.`,
      todo: 'Raise TRUST_PROXY to the number of proxies that stand before Foyer, or list their addresses there.',
    });
  }
  return ok(
    'proxy.client',
    `Foyer sees where requests come from (${client}), and does not believe a forged X-Forwarded-For.`,
  );
}

/** The effect of the proxy on Host and on the protocol. */
export function judgeHeaders(
  { host, forwardedHost, forwardedProto, protocol }: ProbeReport,
  publicUrl: string,
): Finding[] {
  const site = new URL(publicUrl);
  const scheme = site.protocol.slice(0, -1);
  const arrived = forwardedHost ?? host;
  return those(
    arrived === site.host
      ? ok('proxy.host', `Host arrives as it was sent (${site.host}).`)
      : fault('proxy.host', {
          seen: `The host name ${arrived} arrives, and PUBLIC_URL has ${site.host}.`,
          why: 'Foyer answers 421 to every page and call.',
          todo: 'Let the proxy pass Host on as it came (nginx: proxy_set_header Host $host, or $http_host when there is a port).',
        }),
    protocol === scheme
      ? ok('proxy.protocol', `Foyer is told that members use ${scheme}.`)
      : warning('proxy.protocol', {
          seen: `Foyer is told ${forwardedProto === null ? 'no protocol' : `the protocol ${forwardedProto}`}, and takes it for ${protocol}; PUBLIC_URL is ${scheme}.`,
          why: 'Foyer goes by PUBLIC_URL, so cookies and addresses are right all the same; but a proxy that does not say so may not say the rest either.',
          todo: 'Let the proxy set X-Forwarded-Proto (nginx: proxy_set_header X-Forwarded-Proto $scheme), and let TRUST_PROXY name it.',
        }),
  );
}

const isSeen = (value: unknown): value is ProbeReport =>
  typeof value === 'object' &&
  value !== null &&
  ['host', 'peer', 'client', 'protocol'].every((name) => typeof Reflect.get(value, name) === 'string');

/** Sends a probe signed with one of the keys; undefined if the server does not answer it. */
async function probe(
  setup: Setup,
  secretKey: string,
  headers: Record<string, string>,
): Promise<ProbeReport | undefined> {
  const { config, web, now } = setup;
  const signed = { [probeHeader]: signProbe(secretKey, config.PUBLIC_URL, now()) };
  const { text } = await fetchUrl(`${config.PUBLIC_URL}/readyz`, web, { headers: { ...headers, ...signed } });
  const seen = parseJson(text)?.seen;
  return isSeen(seen) ? seen : undefined;
}

function unanswered(): Finding {
  return warning('proxy.probe', {
    seen: 'The server does not know the probe that this command has signed with SECRET_KEY, so what the proxy does cannot be seen.',
    why: 'It has another SECRET_KEY (or was not restarted since it was changed), its clock is a minute off, or its short-lived store is away; or the proxy keeps /readyz or the header X-Foyer-Probe from it.',
    todo: 'Give this command the server’s environment, restart the server, and let the proxy pass all paths and headers on.',
  });
}

/**
 * The effect of the proxy on a request, reported by a server with the same SECRET_KEY: one request forges its origin.
 * Outside production no proxy may be in front of Foyer, and a forwarded request is refused.
 */
export async function checkProxy(setup: Setup): Promise<Finding[]> {
  const { config, say } = setup;
  const keys = config.SECRET_KEYS;
  if (!config.production || keys.length === 0) return [];
  try {
    for (const [index, key] of keys.entries()) {
      const seen = await probe(setup, key, { 'x-forwarded-for': forgedAddress });
      if (!seen) continue;
      const stale =
        index > 0 &&
        warning('proxy.probe', {
          seen: 'The running server does not know the first key of SECRET_KEY.',
          why: 'It was started with another list: what is sealed since then needs an older key.',
          todo: 'Restart the server (a reload keeps the old environment).',
        });
      return those(stale, ...judgeHeaders(seen, config.PUBLIC_URL), judgeClient(seen, forgedAddress));
    }
    return [unanswered()];
  } catch (error) {
    return [
      warning('proxy.probe', {
        seen: `The probe that shows what the proxy does was not answered: ${say(error)}`,
        why: 'So it is not known whether Foyer sees where requests come from.',
        todo: 'Run `foyer doctor` again.',
      }),
    ];
  }
}
