import { readFile, stat } from 'node:fs/promises';
import { type Config, loadConfig } from '../../../config/load.ts';
import { provider as providerRules } from '../../../config/provider-rules.ts';
import {
  FederationError,
  fetchProviderDocument,
  type ProviderDocument,
  readProviderDocument,
} from '../../federation/index.ts';
import type { AddCommand } from '../command.ts';
import { CliError, exitCodes, refused } from '../errors.ts';
import { isObject } from '../import/source.ts';
import { type CliIo, type Result, readAll } from '../io.ts';
import { runRecordedIfMigrated } from '../record-command.ts';
import { requireOption } from '../require-option.ts';
import { facts } from '../text.ts';
import { type ImportedCertificate, toImportedCertificates } from './certificates.ts';
import { type EntryOptions, toOidcEntry, toSamlEntry } from './entries.ts';
import { type ProviderEntry, type ProvidersJson, readProvidersJson, writeProvidersJson } from './file.ts';

/** The options from commander. */
interface ProviderImportOptions extends Partial<EntryOptions> {
  entityId?: string;
  dryRun?: boolean;
}

const maxBytes = 1_048_576;

/** @throws {CliError} refused */
function requireSecure(address: string, { production }: Config): URL | undefined {
  const url = URL.parse(address);
  // A path of Windows has a letter before its colon.
  if (url === null || !/^[a-z]{2,}:$/.test(url.protocol)) return undefined;
  const local = url.protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(url.hostname);
  if (url.username !== '' || url.hash !== '') throw refused([`${address}: must have no credentials and no fragment`]);
  if (url.protocol !== 'https:' && (production || !local))
    throw refused([`${address}: must begin with https://${production ? '' : ' (http:// only on this machine)'}`]);
  return url;
}

/** @throws {CliError} refused */
async function readSource(source: string, { stdin }: CliIo): Promise<string> {
  if (source === '-') return limited(await readAll(stdin), 'the standard input');
  const about = await stat(source).catch(() => undefined);
  if (!about?.isFile()) throw refused([`${source}: is neither a file nor an address that begins with https://`]);
  if (about.size > maxBytes) throw refused([tooLong(source)]);
  return limited(await readFile(source, 'utf8'), source);
}

const tooLong = (source: string): string => `${source}: has more than ${maxBytes} bytes`;

/** @throws {CliError} refused */
function limited(text: string, source: string): string {
  if (Buffer.byteLength(text) > maxBytes) throw refused([tooLong(source)]);
  return text;
}

interface Source {
  document: ProviderDocument;
  /** Undefined: it is a file. */
  address: string | undefined;
}

/** @throws {CliError} refused: with the reason, of the download or of the document */
async function readDocument(
  source: string,
  { io, config, ...options }: { io: CliIo; config: Config } & Parameters<typeof readProviderDocument>[1],
): Promise<Source> {
  const url = requireSecure(source, config);
  try {
    if (url) return { document: await fetchProviderDocument(source, options), address: source };
    return { document: readProviderDocument(await readSource(source, io), options), address: undefined };
  } catch (error) {
    if (!(error instanceof FederationError)) throw error;
    throw refused([`${source}: ${error.detail}`]);
  }
}

/** @throws {CliError} trouble */
function requireProvidersFile({ env }: CliIo, { PROVIDERS_FILE }: Config): string {
  // Without the variable a sandbox has a file of its own, which it writes at each start.
  if (env.PROVIDERS_FILE && PROVIDERS_FILE !== undefined) return PROVIDERS_FILE;
  throw new CliError(
    exitCodes.trouble,
    'PROVIDERS_FILE is not set: it names the file into which the provider is written.',
  );
}

interface PreparedEntry {
  entry: ProviderEntry;
  certificates: ImportedCertificate[];
  notes: string[];
}

async function prepareEntry(
  { document, address }: Source,
  file: ProvidersJson,
  { nowMs, ...options }: EntryOptions & { nowMs: number },
): Promise<PreparedEntry> {
  const { id } = options;
  const old = file.entries.find((one) => isObject(one) && one.id === id) as ProviderEntry | undefined;
  if (document.kind === 'oidc') return { ...toOidcEntry(old, document.discovery, options), certificates: [] };
  const { metadata } = document;
  const input = { id, signing: metadata.signing, old, path: file.path, nowMs };
  const { certificates, notes } = await toImportedCertificates(input);
  const { entry, notes: more } = toSamlEntry(old, metadata, {
    ...options,
    metadataUrl: address,
    certificates: certificates.map((one) => one.file),
    hasKey: file.json.serviceProvider !== undefined,
  });
  return { entry, certificates, notes: [...notes, ...more] };
}

/** Before any file gets a name with the id. @throws {CliError} refused */
function requireValid(entry: ProviderEntry): void {
  const { error } = providerRules.safeParse(entry);
  if (error) throw refused(error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`));
}

const list = (values: readonly string[] | undefined) => (values?.length ? values.join(' ') : undefined);

/** The facts of the document, for people. */
function describe({ document }: Source, certificates: readonly ImportedCertificate[]) {
  if (document.kind === 'oidc') {
    const { discovery } = document;
    return [
      ['found', 'an OpenID provider'],
      ['issuer', discovery.issuer],
      ['authorization', discovery.authorization_endpoint],
      ['token', discovery.token_endpoint],
      ['keys', discovery.jwks_uri],
      ['userinfo', discovery.userinfo_endpoint],
      ['id tokens', list(discovery.id_token_signing_alg_values_supported)],
      ['authentication', list(discovery.token_endpoint_auth_methods_supported)],
      ['scopes', list(discovery.scopes_supported)],
      ['pushed requests', discovery.require_pushed_authorization_requests ? 'required' : undefined],
    ] as const;
  }
  const { metadata } = document;
  return [
    ['found', 'a SAML identity provider'],
    ['entity id', metadata.entityId],
    ['its own name', metadata.displayName],
    ['sign-on', metadata.signOn],
    ['logout', metadata.logout],
    ['signed requests', metadata.wantsSignedRequests ? 'wanted' : 'not wanted'],
    ['NameID formats', metadata.nameIdFormats],
    ['valid until', metadata.validUntilMs === undefined ? undefined : new Date(metadata.validUntilMs).toISOString()],
    [
      'certificates',
      certificates.map(
        ({ file, subject, validTo, fingerprint }) =>
          `${file}: ${subject}, until ${validTo.toISOString().slice(0, 10)}, SHA-256 ${fingerprint}`,
      ),
    ],
  ] as const;
}

const removedFiles = (old: unknown, entry: ProviderEntry): string[] => {
  const names = isObject(old) && Array.isArray(old.certificates) ? old.certificates : [];
  const left = Array.isArray(entry.certificates) ? entry.certificates : [];
  return names.filter((name) => !left.includes(name)).map(String);
};

/** @throws {CliError} */
async function importProvider(io: CliIo, source: string, options: ProviderImportOptions): Promise<Result> {
  requireOption(options, { id: '--id <ID>' });
  const config = loadConfig(io.env);
  const path = requireProvidersFile(io, config);
  const nowMs = (io.now ?? Date.now)();
  const file = await readProvidersJson(path);
  const document = await readDocument(source, { io, config, entityId: options.entityId, nowMs });
  const { entry, certificates, notes } = await prepareEntry(document, file, { ...options, nowMs });
  requireValid(entry);
  const old = file.entries.find((one) => isObject(one) && one.id === options.id);
  const action = old === undefined ? 'added' : JSON.stringify(old) === JSON.stringify(entry) ? 'unchanged' : 'updated';
  const writes = action !== 'unchanged' && options.dryRun !== true;
  if (writes) {
    const pems = new Map(certificates.flatMap(({ file: name, pem }) => (pem === undefined ? [] : [[name, pem]])));
    await runRecordedIfMigrated(io, { config, command: 'provider import' }, () =>
      writeProvidersJson(file, { entry, certificates: pems }, io.env),
    );
  }
  const removed = removedFiles(old, entry);
  const remarks = [
    ...notes,
    ...removed.map((name) => `${name} is no longer in use: its certificate is not in the metadata`),
  ];
  const { id } = options;
  const { clientSecret: _, ...printed } = entry;
  const registered = document.document.kind === 'saml' ? 'metadata' : 'callback';
  return {
    json: {
      id,
      kind: document.document.kind,
      action,
      dry_run: options.dryRun === true,
      entry: printed,
      notes: remarks,
    },
    text: [
      facts([...describe(document, certificates), ['note', remarks]]),
      '',
      options.dryRun ? `${id}: would be ${action} in ${path}. Nothing was changed.` : `${id}: ${action} in ${path}.`,
      ...(writes
        ? [
            `Register there: ${config.PUBLIC_URL}/federation/${id}/${registered}`,
            `Then: systemctl reload foyer, and foyer provider check ${id}`,
          ]
        : []),
    ].join('\n'),
  };
}

export const providerImportCommand = (add: AddCommand, io: CliIo): void =>
  add('import', {
    description: 'write a provider into PROVIDERS_FILE, from its metadata',
    args: [
      [
        '<source>',
        'address or file of SAML metadata or of a discovery document, or - for the input; or the address of an issuer',
      ],
    ],
    options: [
      ['--id <ID>', 'its id in PROVIDERS_FILE; one that is there already is updated'],
      ['--name <NAME>', 'the name of the company; without it what the document says'],
      ['--entity-id <ENTITY>', 'which identity provider, if the SAML metadata have several'],
      ['--client-id <CLIENT>', 'OpenID Connect: the client id that the provider gave you'],
      ['--client-secret-variable <NAME>', 'OpenID Connect: the environment variable with the client secret'],
      ['--dry-run', 'show what would be written, and change nothing'],
    ],
    json: 'print JSON: {"id", "kind", "action", "dry_run", "entry", "notes"}',
    help: `
Prints what it has found, and writes the entry and the certificates beside PROVIDERS_FILE. The same command again takes over new
addresses and certificates, and leaves all other settings as they are. Nothing is written that the server would not accept:
exit code 1 says why. A running Foyer reads the file again on SIGHUP (systemctl reload foyer).

Examples:
  foyer provider import https://idp.acme.example/metadata --id acme --name Acme
  foyer provider import - --id globex --entity-id https://idp.globex.example < federation.xml
  foyer provider import https://login.acme.example --id acme-id --client-id foyer --client-secret-variable ACME_SECRET`,
    run: (source: string, options: ProviderImportOptions) => importProvider(io, source, options),
  });
