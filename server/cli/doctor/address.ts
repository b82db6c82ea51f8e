import { lookup as resolve } from 'node:dns/promises';
import { routes, type SigningKeyInfo } from '../../oidc/index.ts';
import { judgeDiscovery, judgeDns, judgeHealth, judgeHsts, judgeRedirect } from './checks-address.ts';
import { judgePublished } from './checks-keys.ts';
import { judgeClock, judgeMissing } from './checks-services.ts';
import type { Finding } from './finding.ts';
import { checkProxy } from './proxy.ts';
import type { Setup } from './setup.ts';
import { checkTls } from './tls.ts';
import { type Answer, defaultLimitMs, parseJson, readHeader, tryUrl } from './web.ts';

async function checkDns({ config, web, say }: Setup): Promise<Finding[]> {
  const { hostname } = new URL(config.PUBLIC_URL);
  if (web.lookup) return judgeDns(hostname, undefined);
  const bare = hostname.replace(/^\[|\]$/g, '');
  let timer: NodeJS.Timeout | undefined;
  try {
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${defaultLimitMs} ms`)), defaultLimitMs);
    });
    const found = await Promise.race([resolve(bare, { all: true }), tooLate]);
    return judgeDns(
      bare,
      found.map(({ address }) => address),
    );
  } catch (error) {
    return judgeDns(bare, say(error));
  } finally {
    clearTimeout(timer);
  }
}

async function checkRedirect(setup: Setup): Promise<Finding[]> {
  const { config, web } = setup;
  const url = new URL(config.PUBLIC_URL);
  if (!config.https || (url.port !== '' && web.plainPort === undefined)) return [];
  url.protocol = 'http:';
  url.port = String(web.plainPort ?? 80);
  return judgeRedirect(config.PUBLIC_URL, await tryUrl(setup, `${url.origin}/`));
}

function checkClock(answer: Answer): Finding[] {
  const { beforeMs, afterMs } = answer;
  const theirsMs = Date.parse(readHeader(answer, 'date') ?? '');
  if (Number.isNaN(theirsMs)) return [];
  return judgeClock({ source: 'PUBLIC_URL', beforeMs, theirsMs, afterMs, grainMs: 1_000 });
}

function readKids({ status, text }: Answer): string[] {
  const keys = parseJson(text)?.keys;
  if (status !== 200 || !Array.isArray(keys)) return [];
  return keys.flatMap((key: unknown) => {
    const kid: unknown = typeof key === 'object' && key !== null ? Reflect.get(key, 'kid') : undefined;
    return typeof kid === 'string' ? [kid] : [];
  });
}

/** Number of connections for the published keys: enough to reach most of a host's workers. */
const maxAnswers = 16;

async function checkPublished(setup: Setup, keys: readonly SigningKeyInfo[]): Promise<Finding[]> {
  const { config } = setup;
  const answers = Array.from({ length: Math.min(maxAnswers, 2 * config.WEB_CONCURRENCY) }, () =>
    tryUrl(setup, config.PUBLIC_URL + routes.jwks),
  );
  const published = (await Promise.all(answers)).flatMap((one) => (typeof one === 'string' ? [] : [readKids(one)]));
  return published.length === 0 ? [] : judgePublished(published, keys);
}

const isInOrder = (findings: readonly Finding[]) => findings.every(({ level }) => level === 'ok');

interface SiteInput {
  /** Those of the database. */
  keys: readonly SigningKeyInfo[];
  /** Whether a Foyer answers on PORT of this machine. */
  isHere: boolean;
  /** Whether the signature of a probe may be sent there. */
  isTrusted: boolean;
}

/** A Foyer that answers under PUBLIC_URL: its name, its keys, and the way to it. */
async function checkSite(setup: Setup, { keys, isHere, isTrusted }: SiteInput): Promise<Finding[]> {
  const { config, faults } = setup;
  const { PUBLIC_URL: publicUrl } = config;
  const discovery = await tryUrl(setup, `${publicUrl}/.well-known/openid-configuration`);
  if (typeof discovery === 'string') return judgeHealth(publicUrl, discovery, isHere);
  const issuer = judgeDiscovery(publicUrl, discovery);
  const canProbe = isTrusted && !faults.some((fault) => fault.startsWith('TRUST_PROXY'));
  return [
    ...issuer,
    ...(config.https ? judgeHsts(readHeader(discovery, 'strict-transport-security')) : []),
    ...(keys.length > 0 && isInOrder(issuer) ? await checkPublished(setup, keys) : []),
    ...(canProbe ? await checkProxy(setup) : []),
  ];
}

/**
 * PUBLIC_URL as seen by users and client apps.
 * @param keys those of the database, if it can be read
 */
export async function checkAddress(setup: Setup, keys: readonly SigningKeyInfo[] = []): Promise<Finding[]> {
  const { config, env, unreadable } = setup;
  const { PUBLIC_URL: publicUrl } = config;
  if (unreadable('PUBLIC_URL') || (config.production && !env.PUBLIC_URL))
    return judgeMissing('address', ['PUBLIC_URL']);
  const [dns, tls, redirect, health, local] = await Promise.all([
    checkDns(setup),
    config.https ? checkTls(setup) : [],
    checkRedirect(setup),
    tryUrl(setup, `${publicUrl}/healthz`),
    tryUrl({ ...setup, web: {} }, `http://127.0.0.1:${config.PORT}/healthz`),
  ]);
  const isHere = typeof local !== 'string' && parseJson(local.text)?.status === 'alive';
  const reached = judgeHealth(publicUrl, health, isHere);
  const findings = [...dns, ...tls, ...redirect, ...(isInOrder(dns) ? reached : [])];
  if (typeof health === 'string' || !isInOrder(reached)) return findings;
  const isTrusted = !config.https || (tls.length > 0 && tls.every(({ level }) => level !== 'fault'));
  return [...findings, ...checkClock(health), ...(await checkSite(setup, { keys, isHere, isTrusted }))];
}
