import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A comparison that ends at the first different character tells by its time how much of a guess was right. Secrets, and what
 * is computed of them, are compared by `timingSafeEqual`, looked up by their hash, or compared by the store.
 */
const server = join(import.meta.dirname, '../../server');

/** Names of values that are secret, or computed of a secret. */
const secretName =
  /(?:secret|token|password|passphrase|signature|hmac|mac|digest|hash|verifier|challenge|nonce|xsrf|csrf|proof|otp|thumbprint|jkt|sealed|suffix|code)$/i;
/** What stands on both sides of an equality: names with dots, calls and indexes. */
const operand = String.raw`[\w$.?!]+(?:\([^()]*(?:\([^()]*\))?[^()]*\))?(?:\[[^\]]*\])?`;
const equality = new RegExp(String.raw`(${operand})\s*[!=]==?\s*(${operand})`, 'g');
/** Against these nothing can be guessed. */
const harmless = /^(?:undefined|null|true|false|\d[\d_n]*|typeof)$|\.length$|^typeof\b/;

const nameOf = (text: string): string => {
  const call = /^([\w$.?!]+)\(/.exec(text)?.[1];
  // `sha256(…)` and `digest(…)` by their own names, everything else by its last part.
  return (call ?? text).replace(/[!?]/g, '').split('.').at(-1) ?? '';
};

function comparisonsIn(text: string): string[] {
  const found: string[] = [];
  for (const [whole, left = '', right = ''] of text.matchAll(equality)) {
    if (harmless.test(left) || harmless.test(right)) continue;
    if (secretName.test(nameOf(left)) || secretName.test(nameOf(right)) || /sha256$/.test(nameOf(right))) {
      found.push(whole.replace(/\s+/g, ' '));
    }
  }
  return found;
}

/** Comparisons of what is no secret, or of what its owner alone can send: each with the reason. */
const allowed: Record<string, string> = {
  // A session id has 256 random bits: whoever learnt its hash bit by bit would not know the id.
  'current.session.idHash === sessionIdHash': 'hashes of a session id',
  'idHash === session.idHash': 'hashes of a session id',
  'idHash !== session.idHash': 'hashes of a session id',
  'idHash !== keepIdHash': 'hashes of a session id',
  'idHash === wanted': 'one of the member’s own sessions',
  'idHash === r.session.idHash': 'the member’s own session',
  'flow?.account === accountDigest(codes, toAccountKey(username))': 'digest of an address that the caller has typed',
  'underWay?.account === accountDigest(codes, toAccountKey(typed))': 'digest of an address that the caller has typed',
  'contact.digest === toDigest(data)': 'digests of an address, both stored',
  'browser === sha256(id)': 'hash of a random id of 256 bits: its bits do not give the id',
  'found.value.browser === browserHash(req)': 'hashes of a random cookie of 256 bits',
  "r.query('v') === logoHash(provider, provider.logo)": 'version of a public picture',
  'payload.ath !== hash': 'hash of a token that the caller presents (RFC 9449, section 4.3)',
  'nonce !== next': 'a nonce that the caller presented and that was verified',
  // The hashes of the audit trail are printed, logged and exported.
  '.chainHash !== row.chainHash': 'hashes of the audit trail, which are public',
  'anchor.chainHash !== first.chainHash': 'hashes of the audit trail, which are public',
  'row.chainHash !== anchor.chainHash': 'hashes of the audit trail, which are public',
  'point.chainHash !== head.chainHash': 'hashes of the audit trail, which are public',
  'found.sha256 !== sha256': 'hash of a file of a backup, which its manifest has in the open',
  'emailHash === user.emailHash': 'hashes of an address, both stored',
  'newPassword === oldPassword': 'both typed in the same form',
  'password === confirm': 'both typed in the same form',
  'token.jkt === proof?.thumbprint': 'thumbprint of a public key (RFC 9449)',
  'known?.sealed === sealed': 'cipher text of the store against the same in memory',
  'rest === suffix': 'the public list of breached passwords',
  'mode === queryIdToken': 'name of a response mode',
  'filled.response_mode === queryIdToken': 'name of a response mode',
  'ctx?.oidc?.params?.response_mode === queryIdToken': 'name of a response mode',
  'ctx.path !== routes.token': 'path of an endpoint',
  'plan.code === code': 'name of a plan',
  'code === SQLITE_BUSY': 'code of an error',
  'code === SQLITE_LOCKED': 'code of an error',
  'error.code !== POSTGRES_UNIQUE': 'code of an error',
};

const files = readdirSync(server, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));

describe('comparisons of secrets', () => {
  it('Every comparison of a secret uses timingSafeEqual or is listed as comparing nothing secret', () => {
    const unknown = files.flatMap((file) => {
      return comparisonsIn(readFileSync(join(server, file), 'utf8'))
        .filter((text) => !Object.hasOwn(allowed, text))
        .map((text) => `${file}: ${text}`);
    });
    expect(unknown).toEqual([]);
  });

  it.each([
    'if (client.secret === given) return;',
    'return sha256(secret) !== stored.tokenHash;',
    'if (body.code == flow.code) ok();',
    'const same = mac(text) === signature;',
    'return codes[0]?.otp === typed;',
  ])('The check finds the comparison %s', (text) => {
    expect(comparisonsIn(text)).toHaveLength(1);
  });

  it.each(['token === undefined', "typeof secret === 'string'", 'a.hash.length === b.length', 'plan.id === id'])(
    'The check ignores the comparison %s',
    (text) => expect(comparisonsIn(text)).toEqual([]),
  );

  it('The files that compare a secret with a guess use timingSafeEqual', () => {
    const users = files.filter((file) => /\btimingSafeEqual\(/.test(readFileSync(join(server, file), 'utf8'))).sort();
    expect(users).toEqual(
      expect.arrayContaining([
        'http/proxy-probe.ts',
        'mfa/remembered-devices.ts',
        'oidc/provider-cookies.ts',
        'oidc/client-store.ts',
        'passkeys/challenges.ts',
        'password/stored-hash.ts',
        'sessions/known-devices.ts',
      ]),
    );
  });
});
