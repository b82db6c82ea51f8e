import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeSigner } from '../../sandbox/providers/index.ts';
import { production } from '../attacks/production.ts';
import { type Cli, cliOn } from '../support/cli.ts';
import { type MetadataShape, metadataXml } from '../support/provider-documents.ts';

/** No test of an import opens a store. */
export const nowhere = { databaseUrl: '', redisUrl: '', dataDir: join(tmpdir(), 'foyer-cli-import', 'nowhere') };
export const dayMs = 24 * 60 * 60_000;
export const certificateFor = (name: string, days = 400) =>
  makeSigner(name, Date.now() - 300 * dayMs, Date.now() + days * dayMs).certificate;

type Entry = Record<string, unknown> & { id: string; certificates: string[] };
interface Written {
  serviceProvider?: object;
  providers: Entry[];
}

/** A folder with PROVIDERS_FILE and a key of Foyer's own, and commands that import the provider `acme` into it. */
export function createProviderFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'foyer-provider-import-'));
  const at = (name: string) => join(folder, name);
  const file = at('providers.json');
  const own = makeSigner('Foyer', Date.now() - dayMs, Date.now() + 400 * dayMs);
  writeFileSync(at('saml.key'), own.privateKey);
  writeFileSync(at('saml.crt'), own.certificate);
  const first = certificateFor('first');
  const cliWith = (environment: Record<string, string>): Cli =>
    cliOn(nowhere, { ...production, PROVIDERS_FILE: file, ...environment });
  const cli = cliWith({ ACME_SECRET: 'of acme' });
  const written = (): Written => JSON.parse(readFileSync(file, 'utf8'));
  return {
    at,
    file,
    /** The certificate of metadata that name no other. */
    first,
    /** In production. */
    cli,
    /** In production, with further variables. */
    cliWith,
    /** In development, where addresses of this machine need no TLS. */
    local: cliOn(nowhere, { PROVIDERS_FILE: file }),
    written,
    entry: (id = 'acme') => written().providers.find((one) => one.id === id),
    start: (json: object) => writeFileSync(file, JSON.stringify(json, undefined, 4)),
    names: () => readdirSync(folder).filter((name) => !name.startsWith('saml.')),
    importText(text: string, ...options: string[]) {
      writeFileSync(at('document'), text);
      return cli('provider', 'import', at('document'), '--id', 'acme', ...options);
    },
    importShape(shape: MetadataShape, ...options: string[]) {
      writeFileSync(at('metadata.xml'), metadataXml({ signing: [first], ...shape }));
      return cli('provider', 'import', at('metadata.xml'), '--id', 'acme', ...options);
    },
    clear() {
      for (const name of readdirSync(folder)) if (!name.startsWith('saml.')) rmSync(at(name));
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
