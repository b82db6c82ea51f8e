import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { listIneffective, proxyFor, proxyNames } from '../../../config/outgoing-proxy.ts';
import { judgeOutgoing, type ProxyProbe } from './checks-outgoing.ts';
import type { Finding } from './finding.ts';
import type { Setup } from './setup.ts';
import { defaultLimitMs } from './web.ts';

const usualPorts: Record<string, string> = { 'http:': '80', 'https:': '443', 'smtp:': '587', 'smtps:': '465' };

function toAuthority(address: string): string {
  const { protocol, hostname, port } = new URL(address);
  return `${hostname}:${port || usualPorts[protocol]}`;
}

/** Asks a proxy for a tunnel (RFC 9110, section 9.3.6) and closes it. @returns the status of its answer */
function askForTunnel(proxy: string, authority: string, limitMs: number): Promise<number> {
  const { protocol, hostname, port, username, password } = new URL(proxy);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  return new Promise((resolve, reject) => {
    const req = (protocol === 'https:' ? httpsRequest : httpRequest)({
      method: 'CONNECT',
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port || usualPorts[protocol],
      path: authority,
      headers: { host: authority, ...(username !== '' && { 'proxy-authorization': authorization }) },
      agent: false,
      signal: AbortSignal.timeout(limitMs),
    });
    req.on('connect', ({ statusCode = 0 }, socket) => {
      socket.destroy();
      resolve(statusCode);
    });
    req.on('error', (error) =>
      reject(error.name === 'AbortError' ? new Error(`no answer within ${limitMs} ms`) : error),
    );
    req.end();
  });
}

/** The services that this configuration calls. */
function listServices({ config, env }: Setup): string[] {
  const { SENDGRID_API_KEY, SENDGRID_URL, SMTP_URL, TWILIO_ACCOUNT_SID, TWILIO_URL, STRIPE_API_URL } = config;
  const mail = SENDGRID_API_KEY === undefined ? SMTP_URL : SENDGRID_URL;
  const services = [
    mail,
    TWILIO_ACCOUNT_SID === undefined ? undefined : TWILIO_URL,
    // The sandbox has a stand-in on this machine.
    env.STRIPE_SECRET_KEY ? STRIPE_API_URL : undefined,
    config.BREACHED_PASSWORDS_API,
  ];
  return services.filter((address) => address !== undefined);
}

/** The proxy for outgoing calls: it answers, and lets this host through to each service. */
export async function checkOutgoing(setup: Setup): Promise<Finding[]> {
  const { config, unreadable, say, web } = setup;
  const { HTTPS_PROXY, HTTP_PROXY } = config;
  if (proxyNames.some(unreadable) || (HTTPS_PROXY ?? HTTP_PROXY) === undefined) return [];
  const direct: string[] = [];
  const probes: Promise<ProxyProbe>[] = [];
  for (const address of new Set(listServices(setup))) {
    const [proxy, authority] = [proxyFor(config, address), toAuthority(address)];
    if (proxy === undefined) {
      direct.push(authority);
      continue;
    }
    const name = new URL(proxy).host;
    const outcome = askForTunnel(proxy, authority, web.limitMs ?? defaultLimitMs).then(
      (status) => ({ status }),
      (error: unknown) => ({ failed: say(error) }),
    );
    probes.push(outcome.then((found) => ({ proxy: name, authority, ...found })));
  }
  const proxies = [HTTPS_PROXY, HTTP_PROXY].flatMap((proxy) => (proxy === undefined ? [] : [new URL(proxy).host]));
  return judgeOutgoing({
    proxies: [...new Set(proxies)],
    probes: await Promise.all(probes),
    direct,
    ineffective: listIneffective(config),
  });
}
