import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPlans, PlansFileError, shippedPlansFile } from '../../config/plans.ts';
import { loadProviders, noProviders, ProvidersFileError } from '../../config/providers.ts';
import { makeSigner } from '../../sandbox/providers/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'foyer-operator-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, content: string, encoding: BufferEncoding = 'utf8'): string {
  const file = join(folder, name);
  writeFileSync(file, content, encoding);
  return file;
}

function faultsOf(load: () => unknown): readonly string[] {
  try {
    load();
    return [];
  } catch (error) {
    if (error instanceof PlansFileError || error instanceof ProvidersFileError) return error.faults;
    throw error;
  }
}

const plans = readFileSync(shippedPlansFile, 'utf8');

describe('files of an operator in the encodings of editors', () => {
  it('A byte order mark, as the editors of Windows write it, changes nothing', () => {
    expect(loadPlans(write('windows.json', `\uFEFF${plans}`))).toEqual(loadPlans(shippedPlansFile));
    expect(loadProviders(write('none.json', '\uFEFF{}'), {})).toEqual(noProviders);
  });

  it('A file in another encoding than UTF-8 is refused with the remedy, because its letters would be wrong', () => {
    const latin = write('latin.json', plans.replace('One showcase page', 'Café'), 'latin1');
    expect(faultsOf(() => loadPlans(latin))).toEqual(['is no UTF-8 text: save it as UTF-8']);
    const wide = write('wide.json', '\uFEFF{"providers":[]}', 'utf16le');
    expect(faultsOf(() => loadProviders(wide, {}))).toEqual(['it is no UTF-8 text: save it as UTF-8']);
  });
});

describe('Foyer’s own key and certificate in PROVIDERS_FILE', () => {
  const own = makeSigner('Foyer', Date.now(), Date.now() + 1_000_000);
  const other = makeSigner('Other', Date.now(), Date.now() + 1_000_000);
  const cut = (pem: string) => pem.split('\n').toSpliced(2, 3).join('\n');
  const sealed = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' } as const;
  write('own.key', own.privateKey);
  write('own.crt', own.certificate);
  write('other.crt', other.certificate);
  write('cut.key', cut(own.privateKey));
  write('cut.crt', cut(own.certificate));
  write('locked.key', String(createPrivateKey(own.privateKey).export(sealed)));
  const faultsWith = (privateKey: string, certificate: string) => {
    const file = write('providers.json', JSON.stringify({ serviceProvider: { privateKey, certificate } }));
    return faultsOf(() => loadProviders(file, {}));
  };

  it('A key with its certificate is accepted', () => {
    expect(faultsWith('own.key', 'own.crt')).toEqual([]);
  });

  it.each([
    ['of another key', 'own.key', 'other.crt', /^serviceProvider\.certificate: is of another key than .*; write/],
    ['that is damaged', 'own.key', 'cut.crt', /^serviceProvider\.certificate: is damaged; copy/],
    ['with a damaged key', 'cut.key', 'own.crt', /^serviceProvider\.privateKey: is damaged; copy/],
    [
      'with a locked key',
      'locked.key',
      'own.crt',
      /^serviceProvider\.privateKey: locked\.key has a passphrase: remove/,
    ],
  ])('A certificate %s is one fault', (_what, key, certificate, fault) => {
    expect(faultsWith(key, certificate)).toEqual([expect.stringMatching(fault)]);
  });
});
