import { production } from '../attacks/production.ts';
import { Browser, noticeBoxes } from './browser.ts';
import { makeCertificate } from './certificate.ts';
import { signInBrowser, startFoyer, type TestFoyer } from './foyer.ts';
import { trustCertificate } from './http-client.ts';
import { type ReverseProxy, startReverseProxy } from './reverse-proxy.ts';
import { anyBackend } from './stores.ts';

const dayMs = 24 * 60 * 60 * 1000;
let proxies = 0;

/** A reverse proxy whose certificate this process trusts. */
export async function startTrustedProxy(): Promise<ReverseProxy> {
  proxies += 1;
  // Two trusted certificates of one subject would be taken for each other.
  const names = [`proxy${proxies}.localhost`, 'localhost'];
  const certificate = makeCertificate(names, Date.now() - dayMs, Date.now() + dayMs);
  const proxy = await startReverseProxy(certificate);
  const distrust = trustCertificate(certificate);
  const { stop } = proxy;
  return Object.assign(proxy, {
    stop: async () => {
      distrust();
      await stop();
    },
  });
}

/** A Foyer with the configuration of production behind a proxy with TLS, which is its address. */
export async function startProductionFoyer(): Promise<TestFoyer> {
  const proxy = await startTrustedProxy();
  const foyer = await startFoyer(anyBackend, { ...production, PUBLIC_URL: proxy.url });
  proxy.target = foyer.url;
  noticeBoxes.set(proxy.url, foyer.noticeBox);
  const browser = () => new Browser(proxy.url);
  return {
    ...foyer,
    url: proxy.url,
    browser,
    signedIn: (user) => signInBrowser(browser(), user),
    async close() {
      await proxy.stop();
      await foyer.close();
    },
  };
}
