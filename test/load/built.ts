/**
 * The product as it was built: what is measured is what production runs. Types come from the sources.
 * @param path of the source without its extension, as in `server/app`
 */
export async function built<T>(path: string): Promise<T> {
  return (await import(new URL(`../../dist/${path}.js`, import.meta.url).href)) as T;
}
