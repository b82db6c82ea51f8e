/**
 * Reads the body of an answer that should be short.
 * @returns undefined if it is longer: the rest is not read
 * @throws if the connection ends before the body does, or the request is aborted
 */
export async function readShortText({ body }: Pick<Response, 'body'>, maxBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop closes the connection.
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
