import { isIP } from 'node:net';
import { checkServerIdentity, connect } from 'node:tls';
import { dayMs } from '../../shared/index.ts';
import { counted, moment } from '../text.ts';
import { type Finding, findingsFor, those } from './finding.ts';
import type { Web } from './setup.ts';
import { defaultLimitMs } from './web.ts';

const { ok, warning, fault } = findingsFor('address');
const warnBelowDays = 21;

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

/** Connects and reads the certificate, even an invalid one. @throws if there is no TLS answer */
export function lookAtTls(
  address: string,
  { ca, lookup, limitMs = defaultLimitMs }: Web,
  now: () => number,
): Promise<TlsFacts> {
  const { hostname, port } = new URL(address);
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(port || 443),
      rejectUnauthorized: false,
      ...(isIP(host) === 0 && { servername: host }),
      ...(lookup && { lookup }),
      ...(ca !== undefined && { ca }),
    });
    socket.setTimeout(limitMs, () => socket.destroy(new Error(`no answer within ${limitMs} ms`)));
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerCertificate();
      const reason = socket.authorizationError as unknown;
      // Dates and names have their own findings.
      const code =
        reason === null || reason === undefined ? '' : reason instanceof Error ? reason.message : String(reason);
      const own = /^(CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|ERR_TLS_CERT_ALTNAME_INVALID)$/.test(code);
      resolve({
        host,
        validFromMs: Date.parse(certificate.valid_from),
        validToMs: Date.parse(certificate.valid_to),
        wrongName: checkServerIdentity(host, certificate)?.message,
        distrusted: code === '' || own ? undefined : code,
        protocol: socket.getProtocol() ?? '',
        nowMs: now(),
      });
      socket.destroy();
    });
  });
}

const why = 'Browsers and client apps refuse to connect: no one can sign in.';

function judgeDates({ validFromMs, validToMs, nowMs }: TlsFacts): Finding {
  const days = Math.floor((validToMs - nowMs) / dayMs);
  const todo = 'Renew it (certbot renew, or what your proxy has), and see that it is renewed by itself.';
  if (validToMs <= nowMs) {
    return fault('tls.expiry', { seen: `The certificate expired at ${moment(validToMs)}.`, why, todo });
  }
  if (validFromMs > nowMs) {
    return fault('tls.expiry', {
      seen: `The certificate is not valid before ${moment(validFromMs)}.`,
      why,
      todo: 'See whether this machine’s clock is right, or take the certificate that was there before.',
    });
  }
  if (days < warnBelowDays) {
    return warning('tls.expiry', {
      seen: `The certificate expires in ${counted(days, 'day')}, at ${moment(validToMs)}.`,
      why: 'Most are renewed earlier, so the renewal may have failed. After that day no one can sign in.',
      todo,
    });
  }
  return ok('tls.expiry', `The certificate is valid for ${counted(days, 'day')} more.`);
}

/** The certificate for users' browsers. */
export function judgeTls(facts: TlsFacts): Finding[] {
  const { wrongName, distrusted, host, protocol } = facts;
  return those(
    judgeDates(facts),
    wrongName !== undefined &&
      fault('tls.name', {
        seen: `The certificate is not for ${host}.`,
        why,
        todo: `Get one for ${host}, or see whether the proxy shows that of another site (server_name).`,
      }),
    distrusted !== undefined &&
      fault('tls.chain', {
        seen: `The certificate is not trusted from here: ${distrusted}.`,
        why,
        todo: 'Let the proxy send the whole chain (fullchain.pem); for a company’s own authority set NODE_EXTRA_CA_CERTS here and at the client apps.',
      }),
    wrongName === undefined &&
      distrusted === undefined &&
      ok('tls.chain', `It is trusted, and for ${host} (${protocol}).`),
  );
}

/** Tests whether a browser would accept it. */
export const isTrusted = ({ validFromMs, validToMs, wrongName, distrusted, nowMs }: TlsFacts) =>
  validFromMs <= nowMs && nowMs < validToMs && wrongName === undefined && distrusted === undefined;
