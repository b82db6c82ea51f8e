import { type Context, withContext } from './context.ts';
import { type CliIo, printResult, type Result } from './io.ts';

export interface JsonOption {
  json?: boolean;
}

/** Runs the actions of the commands, prints their results, and throws the error that a result carries. */
export interface Runner {
  io: CliIo;
  run(options: JsonOption, action: () => Result | Promise<Result>): Promise<void>;
  /** Runs an action with the stores of the configuration, and closes them before it prints. */
  runOnStores(options: JsonOption, action: (context: Context) => Promise<Result>): Promise<void>;
}

export function createRunner(io: CliIo): Runner {
  const run: Runner['run'] = async ({ json = false }, action) => {
    const result = await action();
    printResult(io, result, json);
    if (result.error) throw result.error;
  };
  return { io, run, runOnStores: (options, action) => run(options, () => withContext(io, action)) };
}
