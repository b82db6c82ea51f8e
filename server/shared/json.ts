/**
 * `JSON.parse`, but its caller has to check the result before it can use it. For JSON that Foyer has stored itself there is
 * `parseStored` (store/).
 * @throws {SyntaxError} its message repeats a part of the text
 */
export function parseUnknownJson(text: string): unknown {
  return JSON.parse(text);
}
