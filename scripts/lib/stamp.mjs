/**
 * Detects changes since the last time. A stamp lists every input with its size, time and content hash. If size and time
 * agree the content is not read; if only the time differs the hash decides.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * @typedef {{ size: number, mtimeMs: number, sha256: string }} FileMark
 * @typedef {{ platform: string, files: Record<string, FileMark> }} Stamp
 */

export const platform = `${process.platform}-${process.arch}`;

/** @param {string | Buffer} content */
export const sha256 = (content) => createHash('sha256').update(content).digest('hex');

/**
 * Every file below the given files and folders, as sorted paths relative to `base`; missing ones are omitted.
 * @param {string} base
 * @param {string[]} inputs
 * @returns {string[]}
 */
export function listFiles(base, inputs) {
  /** @type {string[]} */
  const found = [];
  const visit = (/** @type {string} */ path) => {
    const stat = statSync(join(base, path), { throwIfNoEntry: false });
    if (stat?.isDirectory()) for (const name of readdirSync(join(base, path))) visit(`${path}/${name}`);
    else if (stat) found.push(path);
  };
  for (const input of inputs) visit(input);
  return found.sort();
}

/**
 * @param {string} base
 * @param {string[]} inputs
 * @param {Stamp} [known] a stamp whose hashes may be reused for files of the same size and time
 * @returns {Stamp}
 */
export function takeStamp(base, inputs, known) {
  /** @type {Stamp['files']} */
  const files = {};
  for (const path of listFiles(base, inputs)) {
    const { size, mtimeMs } = statSync(join(base, path));
    const before = known?.files[path];
    const same = before !== undefined && before.size === size && before.mtimeMs === mtimeMs;
    files[path] = { size, mtimeMs, sha256: same ? before.sha256 : sha256(readFileSync(join(base, path))) };
  }
  return { platform, files };
}

/**
 * Tests whether two stamps have the same content, whatever the times.
 * @param {Stamp} one
 * @param {Stamp} other
 */
export function sameContent(one, other) {
  const paths = Object.keys(one.files);
  return (
    one.platform === other.platform &&
    paths.length === Object.keys(other.files).length &&
    paths.every((path) => one.files[path]?.sha256 === other.files[path]?.sha256)
  );
}

/**
 * @param {string} path
 * @returns {Stamp | undefined} nothing if it is missing or unreadable
 */
export function readStamp(path) {
  try {
    const stamp = JSON.parse(readFileSync(path, 'utf8'));
    return typeof stamp?.files === 'object' && stamp.files !== null ? stamp : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The stamp appears complete or not at all.
 * @param {string} path
 * @param {Stamp} stamp
 */
export function writeStamp(path, stamp) {
  mkdirSync(dirname(path), { recursive: true });
  const part = `${path}.${process.pid}`;
  writeFileSync(part, JSON.stringify(stamp));
  renameSync(part, path);
}
