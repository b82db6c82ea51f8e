/** `npm run walks` starts it: records the walks of test/walks/journeys.ts, and writes them as JSON to a file. */
import '../support/load-tsx.ts';

// After the loader of the views.
const { recordWalks } = await import('./record.ts');
const [file = ''] = process.argv.slice(2);
await recordWalks(file);
