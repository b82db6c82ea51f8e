import type { DiscoveryDocument, ProviderMetadata } from '../../federation/index.ts';
import { refused } from '../errors.ts';
import type { ProviderEntry } from './file.ts';

/** The settings of the entry that a new document replaces; all others stay as the operator wrote them. */
type Settings = ProviderEntry;

/** The operator's options beside the document. */
export interface EntryOptions {
  id: string;
  name?: string | undefined;
  clientId?: string | undefined;
  clientSecretVariable?: string | undefined;
}

interface NewEntry {
  entry: ProviderEntry;
  /** Remarks for the operator. */
  notes: string[];
}

const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const maxName = 100;

/** Members' links belong to the entity or the issuer: another one would make strangers of all of them. */
function requireSame(old: ProviderEntry | undefined, kind: string, named: { setting: string; value: string }): void {
  if (old === undefined) return;
  if (old.kind !== kind) throw refused([`${String(old.id)}: is of the kind ${String(old.kind)}; give another --id`]);
  const { setting, value } = named;
  if (old[setting] !== value) {
    throw refused([
      `${String(old.id)}: has the ${setting} ${String(old[setting])}, and this document ${value}; links of members belong to the first. Give another --id, or change ${setting} by hand`,
    ]);
  }
}

/** The entry's own settings keep their order; new ones follow. */
function withSettings(old: ProviderEntry | undefined, first: Settings, settings: Settings): ProviderEntry {
  const present = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  return old === undefined ? { ...first, ...present } : { ...old, ...present };
}

const toName = (text: string | undefined, id: string): string => [...(text ?? id)].slice(0, maxName).join('').trim();

/** The address that is in force, where the document still names it; else its first one. */
const keepOrFirst = (old: unknown, addresses: readonly string[]): string | undefined =>
  addresses.find((address) => address === old) ?? addresses[0];

interface SamlEntryInput extends EntryOptions {
  /** The address of the metadata; undefined: they come from a file. */
  metadataUrl: string | undefined;
  /** The names of the certificates' files. */
  certificates: string[];
  /** Whether the file has a key of Foyer's own. */
  hasKey: boolean;
}

/** By redirect where the metadata name an address for that, unless the operator wants forms. @throws {CliError} refused */
function requestSettings(old: ProviderEntry | undefined, { signOn, signOnByPost }: ProviderMetadata): Settings {
  const byPost = signOn.length === 0 || (old?.requestBinding === 'post' && signOnByPost.length > 0);
  const ssoUrl = keepOrFirst(old?.ssoUrl, byPost ? signOnByPost : signOn);
  if (ssoUrl === undefined)
    throw refused(['the metadata name no address for requests by the HTTP-Redirect or the HTTP-POST binding']);
  return { ssoUrl, requestBinding: byPost ? 'post' : old?.requestBinding && 'redirect' };
}

/** @throws {CliError} refused */
export function toSamlEntry(
  old: ProviderEntry | undefined,
  metadata: ProviderMetadata,
  { id, name, metadataUrl, certificates, hasKey }: SamlEntryInput,
): NewEntry {
  const { entityId, logout, wantsSignedRequests, nameIdFormats } = metadata;
  requireSame(old, 'saml', { setting: 'entityId', value: entityId });
  const requests = requestSettings(old, metadata);
  if (wantsSignedRequests && !hasKey) {
    throw refused([
      'the metadata want signed requests: make a key of Foyer’s own and name it as serviceProvider in PROVIDERS_FILE first (docs/providers.md)',
    ]);
  }
  const logoutUrl = keepOrFirst(old?.logoutUrl, logout);
  const format = nameIdFormats.includes(persistent) ? persistent : undefined;
  const first = { kind: 'saml', id, name: toName(name ?? metadata.displayName, id) };
  const entry = withSettings(old, first, {
    name: name ?? (old === undefined ? first.name : undefined),
    entityId,
    metadataUrl,
    ...requests,
    logoutUrl: hasKey ? logoutUrl : undefined,
    certificates,
    signRequests: wantsSignedRequests ? true : undefined,
    nameIdFormat: old === undefined ? format : undefined,
  });
  const notes = [
    ...(logoutUrl !== undefined && !hasKey
      ? ['logoutUrl is left out: single logout needs serviceProvider, a key of Foyer’s own']
      : []),
    ...(entry.nameIdFormat === undefined && entry.subject === undefined
      ? [
          'the metadata do not name persistent NameIDs, which are asked for: see docs/providers.md, "Names that change hands"',
        ]
      : []),
  ];
  return { entry, notes };
}

/** @throws {CliError} refused */
export function toOidcEntry(
  old: ProviderEntry | undefined,
  { issuer, scopes_supported: scopes }: DiscoveryDocument,
  { id, name, clientId, clientSecretVariable }: EntryOptions,
): NewEntry {
  requireSame(old, 'oidc', { setting: 'issuer', value: issuer });
  if (old === undefined && clientId === undefined)
    throw refused(['an OpenID provider needs --client-id: the client id that it gave you']);
  const first = { kind: 'oidc', id, name: toName(name ?? URL.parse(issuer)?.hostname, id) };
  const entry = withSettings(old, first, {
    name: name ?? (old === undefined ? first.name : undefined),
    issuer,
    clientId,
    clientSecretVariable,
  });
  // A new variable replaces a secret in the file: both together are refused.
  if (clientSecretVariable !== undefined) delete entry.clientSecret;
  const isPublic = entry.clientSecret === undefined && entry.clientSecretVariable === undefined;
  const unknown = String(entry.scope ?? 'openid profile email')
    .split(' ')
    .filter((scope) => scopes !== undefined && !scopes.includes(scope));
  const notes = [
    ...(isPublic ? ['there is no client secret: Foyer is a public client there (--client-secret-variable)'] : []),
    ...(unknown.length > 0 ? [`the document does not name the scope ${unknown.join(' ')}`] : []),
  ];
  return { entry, notes };
}
