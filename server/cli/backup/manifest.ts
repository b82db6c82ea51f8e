import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { dataFiles, deriveKey, parseStored, StoredDataInvalid } from '../../store/index.ts';

export const manifestFile = 'manifest.json';

/** `sha256`: hexadecimal, as `sha256sum` prints it. */
const fileSchema = z.strictObject({
  name: z.enum(dataFiles),
  bytes: z.int().positive(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

/** The contents of a backup. `format`: of the backup itself; `migration`: the newest one of the database. */
const manifestSchema = z.strictObject({
  format: z.literal(1),
  createdAt: z.iso.datetime(),
  migration: z.string(),
  files: z.array(fileSchema).min(1).max(dataFiles.length),
});
export type Manifest = z.infer<typeof manifestSchema>;

const signedSchema = z.strictObject({ ...manifestSchema.shape, signature: z.string() });

/** The members have the order of the schema, so the same manifest has one text. */
function sign(secretKey: string, manifest: Manifest): Buffer {
  const text = JSON.stringify(manifestSchema.parse(manifest));
  return createHmac('sha256', deriveKey(secretKey, 'backups', 32))
    .update(text)
    .digest();
}

/** @param secretKeys the first one signs */
export function writeManifest(manifest: Manifest, [secretKey = '']: readonly string[]): string {
  return `${JSON.stringify({ ...manifest, signature: sign(secretKey, manifest).toString('base64url') }, undefined, 2)}\n`;
}

/** @returns the manifest, or the reason that it cannot be trusted */
export function readManifest(text: string, secretKeys: readonly string[]): Manifest | { fault: string } {
  try {
    const { signature, ...manifest } = parseStored(signedSchema, text);
    const bytes = Buffer.from(signature, 'base64url');
    const isSigned = secretKeys.some((key) => bytes.length === 32 && timingSafeEqual(bytes, sign(key, manifest)));
    if (!isSigned) return { fault: 'its signature is wrong: it was changed, or SECRET_KEY is not that of the backup' };
    const names = new Set(manifest.files.map(({ name }) => name));
    return names.size === manifest.files.length ? manifest : { fault: 'it names a file twice' };
  } catch (error) {
    if (error instanceof StoredDataInvalid) return { fault: `it is not the manifest of a backup (${error.message})` };
    throw error;
  }
}
