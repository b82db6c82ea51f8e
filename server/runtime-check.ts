/** The message if the running Node is too old, or undefined. Written so that any Node since 12 can run it. */
export function runtimeFault(version: string, minMajor = 24): string | undefined {
  const major = Number(version.replace(/^v/, '').split('.')[0]);
  if (major >= minMajor) return undefined;
  return (
    `Foyer needs Node ${minMajor} or newer, and this is Node ${version}: it uses node:sqlite and other parts that older ones lack.\n` +
    'Run it through npm (npm start), which brings the right Node along after npm ci, or install a newer Node.'
  );
}
