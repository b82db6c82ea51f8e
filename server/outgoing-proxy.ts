import http from 'node:http';
import { ConfigurationError } from '../config/load.ts';
import { type ProxySettings, toNodeProxies } from '../config/outgoing-proxy.ts';
import { propertyIn } from './shared/index.ts';

/**
 * Lets `fetch`, and http and https with the global agents, call other hosts through the configured proxy. Libraries with
 * agents of their own are given the global ones (Stripe), and SMTP its proxy (`carriers.ts`).
 * @throws {ConfigurationError} if this Node.js cannot
 */
export function setOutgoingProxy(settings: ProxySettings): void {
  const proxies = toNodeProxies(settings);
  if (!proxies) return;
  if (propertyIn(http, 'setGlobalProxyFromEnv') === undefined)
    throw new ConfigurationError(['HTTPS_PROXY: needs Node 24.14 or newer; use the one in node_modules/.bin']);
  http.setGlobalProxyFromEnv(proxies);
}
