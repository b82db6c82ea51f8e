import { randomUUID } from 'node:crypto';
import { chmod, chown, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ProvidersFileError, parseProviders } from '../../../config/providers.ts';
import { parseUnknownJson } from '../../shared/index.ts';
import { refused } from '../errors.ts';
import { isObject } from '../import/source.ts';

/** The entry of a provider in PROVIDERS_FILE, as it is written there. */
export type ProviderEntry = Record<string, unknown>;

/** PROVIDERS_FILE as JSON, with whatever it contains. */
export interface ProvidersJson {
  /** The file itself, behind links. */
  path: string;
  /** Undefined: there is no file yet. */
  text: string | undefined;
  json: Record<string, unknown>;
  entries: unknown[];
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** @throws {ProvidersFileError} if the file is no JSON object with a list of providers */
export async function readProvidersJson(file: string): Promise<ProvidersJson> {
  const path = await realpath(file).catch((error: unknown) => {
    if (isMissing(error)) return file;
    throw error;
  });
  const text = await readText(path);
  if (text === undefined) return { path, text, json: {}, entries: [] };
  let json: unknown;
  try {
    json = parseUnknownJson(text);
  } catch (error) {
    throw new ProvidersFileError(file, [`it is no JSON: ${(error as Error).message}`]);
  }
  if (!isObject(json)) throw new ProvidersFileError(file, ['it is no JSON object']);
  const { providers = [] } = json;
  if (!Array.isArray(providers)) throw new ProvidersFileError(file, ['providers: is no list']);
  return { path, text, json, entries: providers };
}

/** Readable by its owner alone, because it may contain client secrets. */
const newFileMode = 0o600;
const certificateMode = 0o644;

/** A command of root must not take the files away from the server's user. */
async function adopt(path: string, owner: { uid: number; gid: number }): Promise<void> {
  if (process.getuid?.() === 0) await chown(path, owner.uid, owner.gid);
}

interface Change {
  /** The new entry replaces the one with its id, or follows the others. */
  entry: ProviderEntry;
  /** PEM by the name of its file, beside PROVIDERS_FILE. */
  certificates: ReadonlyMap<string, string>;
}

const withEntry = (entries: readonly unknown[], entry: ProviderEntry): unknown[] => {
  const at = entries.findIndex((one) => isObject(one) && one.id === entry.id);
  return at < 0 ? [...entries, entry] : entries.with(at, entry);
};

/**
 * Writes the entry and its certificates. The server accepts the new file, or nothing is changed; readers see the old
 * file or the new one as a whole.
 * @throws {CliError} refused
 */
export async function writeProvidersJson(
  { path, text: before, json, entries }: ProvidersJson,
  { entry, certificates }: Change,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const folder = dirname(path);
  const indent = /\n([ \t]+)"/.exec(before ?? '')?.[1] ?? '  ';
  const text = `${JSON.stringify({ ...json, providers: withEntry(entries, entry) }, undefined, indent)}\n`;
  const about = before === undefined ? undefined : await stat(path);
  const owner = about ?? (await stat(folder));
  const draft = `${path}.${randomUUID()}`;
  const created: string[] = [];
  try {
    for (const [name, pem] of certificates) {
      const target = join(folder, name);
      if ((await readText(target)) === pem) continue;
      await writeFile(target, pem, { flag: 'wx', mode: certificateMode });
      created.push(target);
      await adopt(target, owner);
    }
    checkText(text, path, environment);
    created.push(draft);
    await writeDraft(draft, text);
    await adopt(draft, owner);
    await chmod(draft, about ? about.mode & 0o777 : newFileMode);
    if ((await readText(path)) !== before) throw refused([`${path}: it was changed meanwhile; import again`]);
    await rename(draft, path);
  } catch (error) {
    await Promise.all(created.map((name) => rm(name, { force: true })));
    throw error;
  }
}

/** On the disk before it gets its name: a crash must not leave an empty file. */
async function writeDraft(draft: string, text: string): Promise<void> {
  const file = await open(draft, 'wx', newFileMode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function checkText(text: string, path: string, environment: NodeJS.ProcessEnv): void {
  try {
    parseProviders(text, path, environment);
  } catch (error) {
    if (!(error instanceof ProvidersFileError)) throw error;
    throw refused(error.faults.map((fault) => `${path}: ${fault}`));
  }
}
