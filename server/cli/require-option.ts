import { CliError, exitCodes } from './errors.ts';

/**
 * Options without which a command makes no sense: all that are missing at once, where commander would name the first.
 * @throws {CliError} usage
 */
export function requireOption<T extends object, K extends keyof T>(
  options: T,
  flags: Record<K, string>,
): asserts options is T & { [N in K]-?: NonNullable<T[N]> } {
  const missing = Object.entries<string>(flags).filter(([name]) => Reflect.get(options, name) === undefined);
  if (missing.length === 0) return;
  throw new CliError(
    exitCodes.usage,
    ...missing.map(([, flag]) => `error: required option '${flag}' not specified`),
    '(add --help to see how the command is used)',
  );
}
