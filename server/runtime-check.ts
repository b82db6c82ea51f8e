/** What must be said when the running Node is too old, or undefined. Written so that any Node since 12 can run it. */
export function runtimeFault(version: string, leastMajor = 24): string | undefined {
  const major = Number(version.replace(/^v/, '').split('.')[0]);
  if (major >= leastMajor) return undefined;
  return (
    `Foyer needs Node ${leastMajor} or newer, and this is Node ${version}: it uses node:sqlite and other parts that older ones lack.\n` +
    'Run it through npm (npm start), which brings the right Node along after npm ci, or install a newer Node.'
  );
}
