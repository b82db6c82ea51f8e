import { isIP } from 'node:net';
import { checkServerIdentity, connect } from 'node:tls';
import { judgeBrokenTls, judgeTls, type TlsFacts } from './checks-address.ts';
import type { Finding } from './finding.ts';
import type { Setup } from './setup.ts';
import { defaultLimitMs } from './web.ts';

/** Connects and reads the certificate for users' browsers, even an invalid one. @throws if there is no TLS answer */
function readTls({ config, web, now }: Setup): Promise<TlsFacts> {
  const { ca, lookup, limitMs = defaultLimitMs } = web;
  const { hostname, port } = new URL(config.PUBLIC_URL);
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
      const reason: unknown = socket.authorizationError;
      const code = reason instanceof Error ? reason.message : String(reason ?? '');
      // Dates and names have their own findings.
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

/** The certificate; nothing for an unreachable host, which has a finding of its own. */
export async function checkTls(setup: Setup): Promise<Finding[]> {
  try {
    return judgeTls(await readTls(setup));
  } catch (error) {
    const reason = setup.say(error);
    const isUnreachable = /ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|no answer/.test(reason);
    return isUnreachable ? [] : judgeBrokenTls(setup.config.PUBLIC_URL, reason);
  }
}
