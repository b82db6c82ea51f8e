import { lookup as resolve } from 'node:dns/promises';
import type { SigningKeyInfo } from '../../oidc/index.ts';
import { routes } from '../../oidc/index.ts';
import { judgeClock } from './clock.ts';
import { notLookedAt } from './configuration.ts';
import { type Finding, findingsFor } from './finding.ts';
import { judgePublished } from './keys.ts';
import { checkProxy } from './proxy.ts';
import type { Setup, Web } from './setup.ts';
import { isTrusted, judgeTls, lookAtTls } from './tls.ts';
import { type Answer, defaultLimitMs, fetchUrl, parseJson, readHeader } from './web.ts';

const { ok, note, warning, fault } = findingsFor('address');
const halfYearSeconds = 15_552_000;
/** Number of connections for the published keys: enough to reach most of a host's workers. */
const maxAnswers = 16;

async function resolveHost(hostname: string, web: Web, say: Setup['say']): Promise<Finding> {
  if (web.lookup) return ok('address.dns', `${hostname} resolves.`);
  const bare = hostname.replace(/^\[|\]$/g, '');
  const limit = defaultLimitMs;
  let timer: NodeJS.Timeout | undefined;
  try {
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${limit} ms`)), limit);
    });
    const found = await Promise.race([resolve(bare, { all: true }), tooLate]);
    return ok('address.dns', `${bare} resolves to ${found.map(({ address }) => address).join(', ')}.`);
  } catch (error) {
    return fault('address.dns', {
      seen: `The name ${bare} does not resolve: ${say(error)}`,
      why: 'No one finds Foyer under PUBLIC_URL.',
      todo: 'Add the name to the DNS (A and AAAA records), or mend PUBLIC_URL.',
    });
  } finally {
    clearTimeout(timer);
  }
}

const behindProxy = new Set([502, 503, 504]);

/** The answer of /healthz under PUBLIC_URL. @param local whether a Foyer answers on PORT of this machine */
export function judgeHealth(publicUrl: string, outcome: Answer | string, local: boolean): Finding {
  const nowhere = 'Start Foyer (`systemctl start foyer`), and look into its log when it ends again.';
  if (typeof outcome === 'string') {
    return warning('address.answer', {
      seen: `Nothing answers at ${publicUrl} from here: ${outcome}`,
      why: local
        ? 'A Foyer runs on this machine, so the way to it is broken: the proxy, a firewall, the DNS (or this machine alone cannot reach its own public address).'
        : 'No Foyer answers on this machine’s PORT either: it is not running here.',
      todo: local ? 'See whether the proxy runs and listens there; try the address from elsewhere.' : nowhere,
    });
  }
  const { status, text } = outcome;
  if (status === 200 && parseJson(text)?.status === 'alive')
    return ok('address.answer', `${publicUrl}/healthz answers.`);
  if (behindProxy.has(status)) {
    return warning('address.answer', {
      seen: `The proxy at ${publicUrl} answers ${status}: it does not reach Foyer.`,
      why: local ? 'A Foyer runs on this machine, so the proxy looks for it elsewhere.' : 'Foyer is not running.',
      todo: local ? 'Let the proxy pass requests to PORT of this machine.' : nowhere,
    });
  }
  return fault('address.answer', {
    seen: `${publicUrl}/healthz answers ${status}, and not as Foyer does.`,
    why: 'Something else is there: members and client apps do not reach Foyer.',
    todo: 'Let the proxy pass every path of this host to Foyer, unchanged.',
  });
}

/** The discovery document under PUBLIC_URL (OpenID Connect Discovery 1.0, section 4.3). */
export function judgeDiscovery(publicUrl: string, { status, text }: Answer): Finding {
  if (status === 421) {
    return fault('address.issuer', {
      seen: 'Foyer answers 421 to requests for PUBLIC_URL: another host name arrives.',
      why: 'Every page and call is refused.',
      todo: 'Let the proxy pass Host on as it came (nginx: proxy_set_header Host $host, or $http_host when there is a port), or mend PUBLIC_URL.',
    });
  }
  const issuer = parseJson(text)?.issuer;
  if (status === 200 && issuer === publicUrl)
    return ok('address.issuer', 'The discovery document names PUBLIC_URL as issuer.');
  return fault('address.issuer', {
    seen:
      status === 200
        ? `The discovery document names the issuer ${String(issuer).slice(0, 200)}, and PUBLIC_URL is ${publicUrl}.`
        : `The discovery document is answered ${status}.`,
    why: 'Client apps refuse tokens of another issuer than they were told.',
    todo: 'Give the server and this command the same PUBLIC_URL, restart the server, and let no proxy keep the document longer than its Cache-Control says.',
  });
}

/** The received Strict-Transport-Security (RFC 6797). */
export function judgeHsts(header: string | undefined): Finding {
  const seconds = Number(/max-age="?(\d+)/i.exec(header ?? '')?.[1] ?? 0);
  if (seconds >= halfYearSeconds) return ok('address.hsts', 'Strict-Transport-Security comes through.');
  return warning('address.hsts', {
    seen:
      header === undefined
        ? 'Strict-Transport-Security does not come through.'
        : `Strict-Transport-Security is ${header}.`,
    why: 'Foyer sends two years. Without it an attacker in the same network can redirect a member’s first request.',
    todo: 'Let the proxy pass the header on, and set none of its own (nginx: no proxy_hide_header; a CDN: switch its own HSTS setting off or up).',
  });
}

/** The answer of http://. @param outcome an answer, or the reason for none */
export function judgeRedirect(publicUrl: string, outcome: Answer | string): Finding {
  const plain = publicUrl.replace(/^https:/, 'http:');
  const todo = `Let the proxy answer ${plain} with 301 to ${publicUrl} (docs/production.md has the lines).`;
  if (typeof outcome === 'string') {
    return note('address.redirect', {
      seen: `Nothing answers at ${plain}: ${outcome}`,
      why: 'A visitor who types the name without https:// may get an error; most browsers try https:// by themselves.',
      todo,
    });
  }
  const location = readHeader(outcome, 'location') ?? '';
  const target = URL.canParse(location, plain) ? new URL(location, plain).origin : '';
  if (outcome.status >= 300 && outcome.status < 400 && target === publicUrl) {
    return ok('address.redirect', `${plain} redirects to https.`);
  }
  return (outcome.status < 300 ? fault : warning)('address.redirect', {
    seen: `${plain} answers ${outcome.status}${location ? ` to ${location.slice(0, 200)}` : ''} instead of a redirect to ${publicUrl}.`,
    why: 'Passwords may travel where everyone in between can read them.',
    todo,
  });
}

const readOrError = async (answer: Promise<Answer>, say: Setup['say']): Promise<Answer | string> => {
  try {
    return await answer;
  } catch (error) {
    return say(error);
  }
};

async function checkRedirect({ config, web, say }: Setup): Promise<Finding[]> {
  const url = new URL(config.PUBLIC_URL);
  if (url.protocol !== 'https:' || (url.port !== '' && web.plainPort === undefined)) return [];
  url.protocol = 'http:';
  url.port = String(web.plainPort ?? 80);
  return [judgeRedirect(config.PUBLIC_URL, await readOrError(fetchUrl(`${url.origin}/`, web), say))];
}

async function checkTls({ config, web, now, say }: Setup): Promise<{ findings: Finding[]; trusted: boolean }> {
  if (!config.https) return { findings: [], trusted: true };
  try {
    const facts = await lookAtTls(config.PUBLIC_URL, web, now);
    return { findings: judgeTls(facts), trusted: isTrusted(facts) };
  } catch (error) {
    const submitted = say(error);
    // An unreachable host has a finding of its own.
    if (/ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|no answer/.test(submitted)) {
      return { findings: [], trusted: false };
    }
    const broken = fault('tls.chain', {
      seen: `No TLS connection to ${config.PUBLIC_URL}: ${submitted}`,
      why: 'Browsers and client apps cannot connect: no one can sign in.',
      todo: 'Look at the proxy: a listener with ssl on that port, TLS 1.2 or 1.3, a certificate and its key that belong together.',
    });
    return { findings: [broken], trusted: false };
  }
}

function publicUrlClock({ beforeMs, afterMs, ...answer }: Answer): Finding[] {
  const theirsMs = Date.parse(readHeader({ beforeMs, afterMs, ...answer }, 'date') ?? '');
  if (Number.isNaN(theirsMs)) return [];
  return [judgeClock({ source: 'PUBLIC_URL', beforeMs, theirsMs, afterMs, grainMs: 1_000 })];
}

function readKids({ status, text }: Answer): string[] {
  const keys = parseJson(text)?.keys;
  if (status !== 200 || !Array.isArray(keys)) return [];
  return keys.flatMap((key: unknown) => {
    const kid: unknown = typeof key === 'object' && key !== null ? Reflect.get(key, 'kid') : undefined;
    return typeof kid === 'string' ? [kid] : [];
  });
}

async function checkPublished(setup: Setup, keys: SigningKeyInfo[]): Promise<Finding[]> {
  const { config, web } = setup;
  const answers = Math.min(maxAnswers, 2 * config.WEB_CONCURRENCY);
  const requested = await Promise.allSettled(
    Array.from({ length: answers }, () => fetchUrl(config.PUBLIC_URL + routes.jwks, web, { verified: false })),
  );
  const published = requested.flatMap((one) => (one.status === 'fulfilled' ? [readKids(one.value)] : []));
  return published.length === 0 ? [] : [judgePublished(published, keys)];
}

/**
 * PUBLIC_URL as seen by users and client apps.
 * @param keys those of the database, if it can be read
 */
export async function checkAddress(setup: Setup, keys: SigningKeyInfo[] | undefined): Promise<Finding[]> {
  const { config, faults, web, say, now, env } = setup;
  const guessed = config.production && !env.PUBLIC_URL;
  if (setup.unreadable('PUBLIC_URL') || guessed) return [notLookedAt('address', ['PUBLIC_URL'])];
  const { PUBLIC_URL: publicUrl } = config;
  const options = { verified: false, now };
  const [dns, tls, redirect, health, local] = await Promise.all([
    resolveHost(new URL(publicUrl).hostname, web, say),
    checkTls(setup),
    checkRedirect(setup),
    readOrError(fetchUrl(`${publicUrl}/healthz`, web, options), say),
    readOrError(fetchUrl(`http://127.0.0.1:${config.PORT}/healthz`, {}), say),
  ]);
  const localAnswers = typeof local !== 'string' && parseJson(local.text)?.status === 'alive';
  const reached = judgeHealth(publicUrl, health, localAnswers);
  const findings = [dns, ...tls.findings, ...redirect, ...(dns.level === 'ok' ? [reached] : [])];
  if (typeof health === 'string' || reached.level !== 'ok') return findings;

  findings.push(...publicUrlClock(health));
  const discovery = await readOrError(fetchUrl(`${publicUrl}/.well-known/openid-configuration`, web, options), say);
  if (typeof discovery === 'string') return [...findings, judgeHealth(publicUrl, discovery, localAnswers)];
  const issuer = judgeDiscovery(publicUrl, discovery);
  findings.push(issuer);
  if (config.https) findings.push(judgeHsts(readHeader(discovery, 'strict-transport-security')));
  if (keys && keys.length > 0 && issuer.level === 'ok') findings.push(...(await checkPublished(setup, keys)));
  if (tls.trusted && !faults.some((text) => text.startsWith('TRUST_PROXY')))
    findings.push(...(await checkProxy(setup)));
  return findings;
}
