import type { Request } from 'express';
import { HttpError } from './errors.ts';
import { isUpload } from './request-body.ts';

/** Boundaries and headers of the parts of a form. */
const maxFormBytes = 16 * 1024;

type Upload = { kind: 'file'; bytes: Buffer } | { kind: 'none' } | { kind: 'too-large' };

/** The whole body; undefined if it is larger. Bytes after the limit are not kept. */
function readBytes(req: Request, maxBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    req.on('data', (part: Buffer) => {
      size += part.length;
      if (size <= maxBytes) parts.push(part);
      else resolve(undefined);
    });
    req.once('end', () => resolve(Buffer.concat(parts)));
    req.once('error', reject);
    req.once('close', () => reject(new HttpError('badRequest', { detail: 'the body ended early' })));
  });
}

/**
 * The file of a form. The body is in memory meanwhile, so the sender must be known and limited before.
 * @throws {HttpError} badRequest if the body is not such a form
 */
export async function readUpload(
  req: Request,
  { field, maxBytes }: { field: string; maxBytes: number },
): Promise<Upload> {
  if (!isUpload(req)) return { kind: 'none' };
  const body = await readBytes(req, maxBytes + maxFormBytes);
  if (body === undefined) return { kind: 'too-large' };
  let file: FormDataEntryValue | null;
  try {
    const headers = { 'Content-Type': req.get('content-type') ?? '' };
    file = (await new Response(new Uint8Array(body), { headers }).formData()).get(field);
  } catch {
    throw new HttpError('badRequest', { detail: 'the body is no form with a file' });
  }
  // A browser sends an empty file if none was chosen.
  if (file === null || typeof file === 'string' || file.size === 0) return { kind: 'none' };
  if (file.size > maxBytes) return { kind: 'too-large' };
  return { kind: 'file', bytes: Buffer.from(await file.arrayBuffer()) };
}
