import { production } from '../attacks/production.ts';
import { Browser } from './browser.ts';
import { makeCertificate } from './certificate.ts';
import { signInBrowser, startFoyer, type TestFoyer } from './foyer.ts';
import { trustCertificate } from './http-client.ts';
import { type ReverseProxy, startReverseProxy } from './reverse-proxy.ts';
import { anyBackend } from './stores.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** A reverse proxy whose certificate the clients of tests trust. */
export async function startTrustedProxy(): Promise<ReverseProxy> {
  const certificate = makeCertificate(['localhost'], Date.now() - dayMs, Date.now() + dayMs);
  const proxy = await startReverseProxy(certificate);
  const distrust = trustCertificate(proxy.url, certificate);
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
