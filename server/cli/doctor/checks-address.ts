import type { ProbeReport } from '../../http/index.ts';
import { dayMs } from '../../shared/index.ts';
import { counted, moment } from '../text.ts';
import type { Finding } from './finding.ts';
import { fault, note, ok, row, table, warning } from './table.ts';
import { type Answer, parseJson, readHeader } from './web.ts';

/** @param found its addresses, undefined if the caller resolves names itself, or the reason for none */
export const judgeDns = (host: string, found: readonly string[] | string | undefined): Finding[] =>
  table('address', [
    fault('address.dns', typeof found === 'string')`The name ${host} does not resolve: ${String(found)}
    Why: No one finds Foyer under PUBLIC_URL.
    Do: Add the name to the DNS (A and AAAA records), or mend PUBLIC_URL.`,
    ok('address.dns', found !== undefined)`${host} resolves to ${[found].flat().join(', ')}.`,
    ok('address.dns')`${host} resolves.`,
  ]);

export interface TlsFacts {
  host: string;
  validFromMs: number;
  validToMs: number;
  /** The reason that the name is not covered, or undefined. */
  wrongName: string | undefined;
  /** OpenSSL's reason that the chain is not trusted (`SELF_SIGNED_CERT_IN_CHAIN`), or undefined. */
  distrusted: string | undefined;
  protocol: string;
  nowMs: number;
}

/** The certificate for users' browsers. */
export function judgeTls({
  host,
  validFromMs,
  validToMs,
  wrongName,
  distrusted,
  protocol,
  nowMs,
}: TlsFacts): Finding[] {
  const days = counted(Math.floor((validToMs - nowMs) / dayMs), 'day');
  const why = 'Browsers and client apps refuse to connect: no one can sign in.';
  const todo = 'Renew it (certbot renew, or what your proxy has), and see that it is renewed by itself.';
  return table('address', [
    fault('tls.expiry', validToMs <= nowMs)`The certificate expired at ${moment(validToMs)}.
    Why: ${why}
    Do: ${todo}`,
    fault('tls.expiry', validFromMs > nowMs)`The certificate is not valid before ${moment(validFromMs)}.
    Why: ${why}
    Do: See whether this machine’s clock is right, or take the certificate that was there before.`,
    warning('tls.expiry', validToMs < nowMs + 21 * dayMs)`The certificate expires in ${days}, at ${moment(validToMs)}.
    Why: Most are renewed earlier, so the renewal may have failed. After that day no one can sign in.
    Do: ${todo}`,
    ok('tls.expiry')`The certificate is valid for ${days} more.`,
    fault('tls.name', wrongName !== undefined)`The certificate is not for ${host}.
    Why: ${why}
    Do: Get one for ${host}, or see whether the proxy shows that of another site (server_name).`,
    fault('tls.chain', distrusted !== undefined)`The certificate is not trusted from here: ${distrusted}.
    Why: ${why}
    Do: Let the proxy send the whole chain (fullchain.pem); a company’s own authority belongs to the list of this host (update-ca-certificates), with --use-system-ca in NODE_OPTIONS, and to those of the client apps.`,
    ok('tls.chain', wrongName === undefined)`It is trusted, and for ${host} (${protocol}).`,
  ]);
}

export const judgeBrokenTls = (publicUrl: string, reason: string): Finding[] =>
  table('address', [
    fault('tls.chain')`No TLS connection to ${publicUrl}: ${reason}
    Why: Browsers and client apps cannot connect: no one can sign in.
    Do: Look at the proxy: a listener with ssl on that port, TLS 1.2 or 1.3, a certificate and its key that belong together.`,
  ]);

/** The answer of http://. @param outcome an answer, or the reason for none */
export function judgeRedirect(publicUrl: string, outcome: Answer | string): Finding[] {
  const plain = publicUrl.replace(/^https:/, 'http:');
  const todo = `Let the proxy answer ${plain} with 301 to ${publicUrl} (docs/production.md has the lines).`;
  if (typeof outcome === 'string') {
    return table('address', [
      note('address.redirect')`Nothing answers at ${plain}: ${outcome}
    Why: A visitor who types the name without https:// may get an error; most browsers try https:// by themselves.
    Do: ${todo}`,
    ]);
  }
  const { status } = outcome;
  const location = readHeader(outcome, 'location') ?? '';
  const target = URL.canParse(location, plain) ? new URL(location, plain).origin : '';
  return table('address', [
    ok('address.redirect', status >= 300 && status < 400 && target === publicUrl)`${plain} redirects to https.`,
    row(status < 300 ? 'fault' : 'warning')('address.redirect')`
    ${plain} answers ${status}${location ? ` to ${location.slice(0, 200)}` : ''} instead of a redirect to ${publicUrl}.
    Why: Passwords may travel where everyone in between can read them.
    Do: ${todo}`,
  ]);
}

/** The answer of /healthz under PUBLIC_URL. @param isHere whether a Foyer answers on PORT of this machine */
export function judgeHealth(publicUrl: string, outcome: Answer | string, isHere: boolean): Finding[] {
  const start = 'Start Foyer (`systemctl start foyer`), and look into its log when it ends again.';
  if (typeof outcome === 'string') {
    return table('address', [
      warning('address.answer', isHere)`Nothing answers at ${publicUrl} from here: ${outcome}
    Why: A Foyer runs on this machine, so the way to it is broken: the proxy, a firewall, the DNS (or this machine alone cannot reach its own public address).
    Do: See whether the proxy runs and listens there; try the address from elsewhere.`,
      warning('address.answer')`Nothing answers at ${publicUrl} from here: ${outcome}
    Why: No Foyer answers on this machine’s PORT either: it is not running here.
    Do: ${start}`,
    ]);
  }
  const { status, text } = outcome;
  const isProxy = status >= 502 && status <= 504;
  return table('address', [
    ok('address.answer', status === 200 && parseJson(text)?.status === 'alive')`${publicUrl}/healthz answers.`,
    warning('address.answer', isProxy && isHere)`The proxy at ${publicUrl} answers ${status}: it does not reach Foyer.
    Why: A Foyer runs on this machine, so the proxy looks for it elsewhere.
    Do: Let the proxy pass requests to PORT of this machine.`,
    warning('address.answer', isProxy)`The proxy at ${publicUrl} answers ${status}: it does not reach Foyer.
    Why: Foyer is not running.
    Do: ${start}`,
    fault('address.answer')`${publicUrl}/healthz answers ${status}, and not as Foyer does.
    Why: Something else is there: members and client apps do not reach Foyer.
    Do: Let the proxy pass every path of this host to Foyer, unchanged.`,
  ]);
}

/** The discovery document under PUBLIC_URL (OpenID Connect Discovery 1.0, section 4.3). */
export function judgeDiscovery(publicUrl: string, { status, text }: Answer): Finding[] {
  const issuer = parseJson(text)?.issuer;
  const why = 'Client apps refuse tokens of another issuer than they were told.';
  const todo =
    'Give the server and this command the same PUBLIC_URL, restart the server, and let no proxy keep the document longer than its Cache-Control says.';
  return table('address', [
    fault('address.issuer', status === 421)`Foyer answers 421 to requests for PUBLIC_URL: another host name arrives.
    Why: Every page and call is refused.
    Do: Let the proxy pass Host on as it came (nginx: proxy_set_header Host $host, or $http_host when there is a port), or mend PUBLIC_URL.`,
    fault('address.issuer', status !== 200)`The discovery document is answered ${status}.
    Why: ${why}
    Do: ${todo}`,
    ok('address.issuer', issuer === publicUrl)`The discovery document names PUBLIC_URL as issuer.`,
    fault('address.issuer')`
    The discovery document names the issuer ${String(issuer).slice(0, 200)}, and PUBLIC_URL is ${publicUrl}.
    Why: ${why}
    Do: ${todo}`,
  ]);
}

const halfYearSeconds = 15_552_000;

/** The received Strict-Transport-Security (RFC 6797). */
export function judgeHsts(header: string | undefined): Finding[] {
  const seconds = Number(/max-age="?(\d+)/i.exec(header ?? '')?.[1] ?? 0);
  return table('address', [
    ok('address.hsts', seconds >= halfYearSeconds)`Strict-Transport-Security comes through.`,
    warning('address.hsts')`
    Strict-Transport-Security ${header === undefined ? 'does not come through' : `is ${header}`}.
    Why: Foyer sends two years. Without it an attacker in the same network can redirect a member’s first request.
    Do: Let the proxy pass the header on, and set none of its own (nginx: no proxy_hide_header; a CDN: switch its own HSTS setting off or up).`,
  ]);
}

/** The outcome of the signed request that shows the way through the proxy. */
export const judgeProbe = (outcome: 'known' | 'stale' | 'unknown' | { failed: string }): Finding[] =>
  table('proxy', [
    warning('proxy.probe', outcome === 'stale')`The running server does not know the first key of SECRET_KEY.
    Why: It was started with another list: what is sealed since then needs an older key.
    Do: Restart the server (a reload keeps the old environment).`,
    warning('proxy.probe', outcome === 'unknown')`
    The server does not know the probe that this command has signed with SECRET_KEY, so what the proxy does cannot be seen.
    Why: It has another SECRET_KEY (or was not restarted since it was changed), its clock is a minute off, or its short-lived store is away; or the proxy keeps /readyz or the header X-Foyer-Probe from it.
    Do: Give this command the server’s environment, restart the server, and let the proxy pass all paths and headers on.`,
    warning('proxy.probe', typeof outcome === 'object')`
    The probe that shows what the proxy does was not answered: ${typeof outcome === 'object' ? outcome.failed : ''}
    Why: So it is not known whether Foyer sees where requests come from.
    Do: Run \`foyer doctor\` again.`,
  ]);

/** The effect of the proxy on Host and on the protocol. */
export function judgeHeaders(seen: ProbeReport, publicUrl: string): Finding[] {
  const { forwardedHost, forwardedProto, protocol } = seen;
  const site = new URL(publicUrl);
  const scheme = site.protocol.slice(0, -1);
  const host = forwardedHost ?? seen.host;
  const protocolText = forwardedProto === null ? 'no protocol' : `the protocol ${forwardedProto}`;
  return table('proxy', [
    ok('proxy.host', host === site.host)`Host arrives as it was sent (${site.host}).`,
    fault('proxy.host')`The host name ${host} arrives, and PUBLIC_URL has ${site.host}.
    Why: Foyer answers 421 to every page and call.
    Do: Let the proxy pass Host on as it came (nginx: proxy_set_header Host $host, or $http_host when there is a port).`,
    ok('proxy.protocol', protocol === scheme)`Foyer is told that members use ${scheme}.`,
    warning('proxy.protocol')`Foyer is told ${protocolText}, and takes it for ${protocol}; PUBLIC_URL is ${scheme}.
    Why: Foyer goes by PUBLIC_URL, so cookies and addresses are right all the same; but a proxy that does not say so may not say the rest either.
    Do: Let the proxy set X-Forwarded-Proto (nginx: proxy_set_header X-Forwarded-Proto $scheme), and let TRUST_PROXY name it.`,
  ]);
}

/** An IPv4 address, also if it is mapped into IPv6. */
const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** The client address that Foyer computes when the client forged another. */
export function judgeClient(seen: ProbeReport, forged: string): Finding[] {
  const addresses = (seen.forwardedFor ?? '').split(',').map((address) => address.trim());
  // The last connecting proxy is at the end.
  const chain = [...addresses.filter((address) => address !== ''), seen.peer].map(plain);
  const client = plain(seen.client);
  const forgedAt = chain.lastIndexOf(forged);
  // The forged address comes before those that proxies have added; the next is the client as the first proxy saw it.
  const real = chain[forgedAt + 1];
  const isUnnamed = real === undefined || forgedAt === chain.length - 2 || seen.forwardedFor === null;
  const why = 'The limits of guesses count by address, and the log names it.';
  return table('proxy', [
    fault('proxy.client', client === forged)`Foyer believes the address that a client claims in X-Forwarded-For.
    Why: ${why} Anyone can guess passwords without end, under a new address each time.
    Do: Lower TRUST_PROXY to the number of proxies that stand before Foyer, and let the outermost one replace the header (nginx: proxy_set_header X-Forwarded-For $remote_addr).`,
    fault('proxy.client', isUnnamed)`
    The proxy does not say where requests come from: X-Forwarded-For does not arrive, or as the client wrote it.
    Why: ${why} All members seem to come from ${client} and share one limit.
    Do: Let the proxy set it (nginx: proxy_set_header X-Forwarded-For $remote_addr).`,
    fault('proxy.client', client !== real)`
    Foyer takes every member for ${client}, which is a proxy; the client was ${real}.
    Why: ${why} All members share one limit.
    Do: Raise TRUST_PROXY to the number of proxies that stand before Foyer, or list their addresses there.`,
    ok('proxy.client')`Foyer sees where requests come from (${client}), and does not believe a forged X-Forwarded-For.`,
  ]);
}
