import { type FunctionSize, listFunctionSizes } from './function-sizes.ts';
import { listImportCycles } from './import-cycles.ts';
import { listSources, readSource } from './parsed-source.ts';
import { largeFunctions } from './size-exceptions.ts';

const most = { parameters: 3, lines: 80, complexity: 15 };
const mostFileLines = 300;

const files = listSources('server', 'views', 'client', 'config', 'sandbox');
const functions = files.flatMap((file) => listFunctionSizes(file, readSource(file)));

/** The functions over a limit, each as its file and its name. */
const listLarge = (size: keyof typeof most): string[] => [
  ...new Set(
    functions.filter((one) => one[size] > most[size]).map(({ file, name }: FunctionSize) => `${file} ${name}`),
  ),
];

const isException = (size: keyof typeof most) => (entry: string) => largeFunctions[size].has(entry);

describe('Sizes of the code', () => {
  it('No function has more than three parameters, except those of the list', () => {
    expect(functions.length).toBeGreaterThan(5_000);
    expect(listLarge('parameters').filter((entry) => !isException('parameters')(entry))).toEqual([]);
  });

  it('No function is longer than 80 lines, except those of the list', () => {
    expect(listLarge('lines').filter((entry) => !isException('lines')(entry))).toEqual([]);
  });

  it('No function has a cyclomatic complexity over 15, except those of the list', () => {
    expect(listLarge('complexity').filter((entry) => !isException('complexity')(entry))).toEqual([]);
  });

  it('Every exception of the list is still needed', () => {
    const unneeded = (['parameters', 'lines', 'complexity'] as const).flatMap((size) => {
      const large = new Set(listLarge(size));
      return [...largeFunctions[size].keys()].filter((entry) => !large.has(entry));
    });
    expect(unneeded).toEqual([]);
  });

  it('No file has more than 300 lines', () => {
    expect(files.filter((file) => readSource(file).split('\n').length - 1 > mostFileLines)).toEqual([]);
  });

  it('Files do not import each other in a cycle, for types neither', () => {
    expect(listImportCycles(files)).toEqual([]);
  });

  it('A function with four parameters, 81 lines or complexity 16 is found', () => {
    const lines = Array.from({ length: 79 }, () => '  a += 1;').join('\n');
    const decisions = Array.from({ length: 15 }, (_, index) => `if (a === ${index}) return 1;`).join('\n');
    const text = [
      'const four = (a: 1, b: 2, c: 3, d: 4) => a;',
      `function long(a: number) {\n${lines}\n}`,
      `function complex(a: number) {\n${decisions}\n}`,
    ].join('\n');
    expect(listFunctionSizes('example.ts', text)).toEqual([
      { file: 'example.ts', name: 'four', parameters: 4, lines: 1, complexity: 1 },
      { file: 'example.ts', name: 'long', parameters: 1, lines: 81, complexity: 1 },
      { file: 'example.ts', name: 'complex', parameters: 1, lines: 17, complexity: 16 },
    ]);
  });
});
