import { isIP } from 'node:net';
import { z } from 'zod';

const proxyAddress = z.string().refine((value) => {
  const url = URL.parse(value);
  return (
    url !== null &&
    ['http:', 'https:'].includes(url.protocol) &&
    url.hostname !== '' &&
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === ''
  );
}, 'write http://proxy.example.com:3128, with user:password@ before the host if the proxy wants them');

/** The variables of the proxy for outgoing calls: a part of the schema in `schema.ts`. */
export const proxyVariables = {
  HTTPS_PROXY: proxyAddress.optional(),
  /** For http:// alone; without HTTPS_PROXY for all. */
  HTTP_PROXY: proxyAddress.optional(),
  /** Hosts that are called directly, separated by commas. */
  NO_PROXY: z.string().optional(),
};

export const proxyNames = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'] as const;

export interface ProxySettings {
  HTTPS_PROXY?: string | undefined;
  HTTP_PROXY?: string | undefined;
  NO_PROXY?: string | undefined;
}

/** Other programs write these names in small letters too; as for Node.js and curl, those come first. */
export function readProxyNames(environment: NodeJS.ProcessEnv): ProxySettings {
  return Object.fromEntries(
    proxyNames.flatMap((name) => {
      const value = environment[name.toLowerCase()] || environment[name];
      return value ? [[name, value]] : [];
    }),
  );
}

/** Development and stand-ins call this machine. */
const loopback = ['localhost', '127.0.0.1', '::1'];

interface Bypass {
  host: string;
  /** Undefined: every port. */
  port: number | undefined;
}

const splitNames = (text = ''): string[] => text.split(/[,\s]+/).filter(Boolean);

/** Networks and ranges of addresses: neither `fetch` nor `https` of Node.js finds both forms. */
const isRange = (name: string): boolean => name.includes('/') || /^[\d.]+-[\d.]+$/.test(name);

/** Entries of NO_PROXY without effect. */
export const listIneffective = ({ NO_PROXY }: ProxySettings): string[] => splitNames(NO_PROXY).filter(isRange);

function toBypass(name: string): Bypass {
  const host = name.replace(/^\*?\./, '').toLowerCase();
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) !== 0) return { host: bare, port: undefined };
  const [, before = host, port] = /^(.+):(\d+)$/.exec(host) ?? [];
  return { host: before.replace(/^\[(.*)\]$/, '$1'), port: port === undefined ? undefined : Number(port) };
}

const listBypasses = ({ NO_PROXY }: ProxySettings): Bypass[] =>
  [...loopback, ...splitNames(NO_PROXY).filter((name) => !isRange(name))].map(toBypass);

/** `*` in NO_PROXY means that nothing goes through the proxy. */
const isOff = ({ NO_PROXY }: ProxySettings): boolean => splitNames(NO_PROXY).includes('*');

const usualPorts: Record<string, number> = { 'http:': 80, 'https:': 443, 'smtp:': 587, 'smtps:': 465 };

/**
 * The proxy for a call, or undefined if it goes directly. A name in NO_PROXY means its subdomains too.
 * @param address with the scheme http, https, smtp or smtps; mails go as https does, by CONNECT
 */
export function proxyFor(settings: ProxySettings, address: string): string | undefined {
  const { HTTPS_PROXY, HTTP_PROXY } = settings;
  const { protocol, hostname, port } = new URL(address);
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const called = Number(port) || usualPorts[protocol];
  const isDirect = listBypasses(settings).some(
    (bypass) =>
      (bypass.port === undefined || bypass.port === called) &&
      (host === bypass.host || host.endsWith(`.${bypass.host}`)),
  );
  if (isDirect || isOff(settings)) return undefined;
  return protocol === 'http:' ? HTTP_PROXY : (HTTPS_PROXY ?? HTTP_PROXY);
}

/**
 * The same rules for Node.js, as `http.setGlobalProxyFromEnv` reads them; undefined without a proxy. Its `fetch` and its
 * `https` read a plain name differently, so each name is there with and without its subdomains.
 */
export function toNodeProxies(settings: ProxySettings): Record<string, string> | undefined {
  const { HTTPS_PROXY, HTTP_PROXY } = settings;
  const https = HTTPS_PROXY ?? HTTP_PROXY;
  if (https === undefined || isOff(settings)) return undefined;
  const names = listBypasses(settings).flatMap(({ host, port }) => {
    if (port !== undefined) return [`${host}:${port}`];
    return isIP(host) === 6 ? [host, `[${host}]`] : [host, `.${host}`];
  });
  return { HTTPS_PROXY: https, ...(HTTP_PROXY !== undefined && { HTTP_PROXY }), NO_PROXY: names.join(',') };
}
