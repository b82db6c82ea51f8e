import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseProviders } from '../../config/providers.ts';
import { createProviderFolder } from '../cli/provider-folder.ts';
import { type VendorDocument, vendorDocuments } from './vendor-documents.ts';

const recipes = join(import.meta.dirname, '../../docs/providers');
const pages = readdirSync(recipes).filter((name) => name.endsWith('.md'));
const names = pages.map((name) => name.replace('.md', ''));

type Entry = Record<string, unknown> & { id: string };
interface FileJson {
  serviceProvider?: object;
  providers: Entry[];
}

/** The files of a recipe: a block is a whole file, or one entry of it. */
function filesOf(name: string): FileJson[] {
  const text = readFileSync(join(recipes, `${name}.md`), 'utf8');
  return [...text.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, json = '']) => {
    const block: Entry | FileJson = JSON.parse(json);
    return 'kind' in block ? { providers: [block] } : (block as FileJson);
  });
}

const folder = createProviderFolder();
const environment = { NODE_ENV: 'production' };
/** The variables with secrets that the entries name. */
const secrets = (file: FileJson) =>
  Object.fromEntries(
    file.providers.flatMap(({ clientSecretVariable: name }) => (typeof name === 'string' ? [[name, 'a secret']] : [])),
  );
/** Writes the certificates that a file names. */
function writeNamed(file: FileJson): void {
  for (const { certificates, metadataCertificate } of file.providers) {
    for (const name of [certificates, metadataCertificate].flat())
      if (typeof name === 'string') writeFileSync(folder.at(name), folder.first);
  }
}

describe('recipes for identity providers', () => {
  beforeEach(() => folder.clear());
  afterAll(() => folder.remove());

  it('Every recipe has lines to paste, a document of its vendor, and a row in the index', () => {
    const index = readFileSync(join(recipes, '../providers.md'), 'utf8');
    for (const name of names) {
      expect([name, filesOf(name).length]).not.toEqual([name, 0]);
      expect(vendorDocuments).toHaveProperty(name);
      expect(index).toContain(`](providers/${name}.md)`);
    }
  });

  it.each(names)('The server accepts the lines of the recipe %s in production', (name) => {
    for (const file of filesOf(name)) {
      writeNamed(file);
      const ids = file.providers.map(({ id }) => id);
      const parsed = parseProviders(JSON.stringify(file), folder.file, { ...environment, ...secrets(file) });
      expect(parsed.providers.map(({ id }) => id)).toEqual(ids);
    }
  });

  const documents = Object.entries(vendorDocuments).flatMap(([name, all]) =>
    all.map((document) => [document.id, document, name] as const),
  );
  const importInto = ({ id, text, options = [] }: VendorDocument, env: Record<string, string>) => {
    writeFileSync(folder.at('document'), text(folder.first));
    return folder.cliWith(env)('provider', 'import', folder.at('document'), '--id', id, ...options);
  };

  it.each(documents)('The document of the vendor of %s is imported into an empty file', async (_id, document) => {
    folder.start({ serviceProvider: { privateKey: 'saml.key', certificate: 'saml.crt' }, providers: [] });
    const env = { VENDOR_SECRET: 'a secret' };
    expect(await importInto(document, env)).toMatchObject({ code: 0, err: '' });
    expect(await folder.cliWith(env)('provider', 'list')).toMatchObject({ code: 0, err: '' });
  });

  const withRecipe = documents.filter(([, , name]) => names.includes(name));
  it.each(withRecipe)('An import into the entry %s keeps what its recipe says', async (_id, document, name) => {
    const file = filesOf(name).find(({ providers }) => providers.some(({ id }) => id === document.id));
    if (!file) throw new Error(`${name} has no entry ${document.id}`);
    writeNamed(file);
    folder.start(file);
    const before = file.providers[0];
    expect(await importInto({ ...document, options: [] }, secrets(file))).toMatchObject({ code: 0, err: '' });
    // Addresses and names of the recipe are those of the vendor's document.
    expect(folder.entry(document.id)).toMatchObject({ ...before });
    expect(await folder.cliWith(secrets(file))('provider', 'list')).toMatchObject({ code: 0, err: '' });
  });
});
