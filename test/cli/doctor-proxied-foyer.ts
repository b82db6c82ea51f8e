import { production } from '../attacks/production.ts';
import { startSmtp } from '../messages/stand-in-smtp.ts';
import { makeCertificate } from '../support/certificate.ts';
import { cliOn } from '../support/cli.ts';
import { type Examination, examine, ofMachine } from '../support/doctor.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { goodHeaders, type ReverseProxy, startReverseProxy } from '../support/reverse-proxy.ts';
import { anyBackend } from '../support/stores.ts';

export const dayMs = 24 * 60 * 60 * 1000;
export const good = makeCertificate(['localhost'], Date.now() - dayMs, Date.now() + 90 * dayMs);

/** In which way an examination differs from the usual one. */
interface Variation {
  ca?: string;
  environment?: Record<string, string>;
  now?: () => number;
  limitMs?: number;
}

/** All complaints but those of the machine. */
export const complaintsOf = (found: Examination) => found.complaints.filter((complaint) => !ofMachine(complaint));

/** Starts a Foyer behind a reverse proxy with TLS for the tests of a file; each test finds the proxy in order. */
export function prepareProxiedFoyer() {
  let proxy: ReverseProxy;
  let foyer: TestFoyer;
  let smtp: Awaited<ReturnType<typeof startSmtp>>;
  const environment = () => ({
    ...production,
    PUBLIC_URL: proxy.url,
    PORT: new URL(foyer.url).port,
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}?requireTLS=false`,
  });
  /** A domain whose mails arrive; doctor-messages.test.ts tests the queries. */
  const resolveTxt = async (name: string) => [
    [name.startsWith('_dmarc') ? 'v=DMARC1; p=none' : name.includes('_domainkey') ? 'p=MIGf' : 'v=spf1 -all'],
  ];

  beforeAll(async () => {
    proxy = await startReverseProxy(good);
    smtp = await startSmtp();
    foyer = await startFoyer(anyBackend, { ...production, PUBLIC_URL: proxy.url });
    restore();
  });
  afterAll(async () => {
    await foyer?.close();
    await proxy?.stop();
    await smtp?.close();
  });
  afterEach(() => restore());

  const redirect: ReverseProxy['plain'] = (req, res) => res.writeHead(301, { location: proxy.url + req.url }).end();
  function restore(): void {
    proxy.present(good);
    Object.assign(proxy, {
      target: foyer.url,
      toServer: goodHeaders,
      toClient: (headers: unknown) => headers,
      plain: redirect,
    });
  }

  /** Runs `foyer doctor` beside that Foyer. */
  const look = (variation: Variation = {}): Promise<Examination> =>
    examine(
      cliOn(foyer.stores.urls, { ...environment(), ...variation.environment }, variation.now, {
        ca: variation.ca ?? good.cert,
        resolveTxt,
        plainPort: proxy.plainPort,
        limitMs: variation.limitMs ?? 4_000,
      }),
    );

  return { proxy: () => proxy, foyer: () => foyer, environment, look };
}
