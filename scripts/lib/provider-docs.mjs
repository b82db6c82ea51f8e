/** The lines of config/example.env and of docs/providers.md that say of each standard provider what its entry says. */
import { samlAttributes } from '../../config/saml-attributes.ts';
import { standardKinds, standardProviders } from '../../config/standard-providers.ts';

/**
 * Replaces the lines of some variables, which stand together, by those of all.
 * @param {string} text of config/example.env
 * @param {readonly { variable: string, example: string }[]} variables in their order
 */
function withVariables(text, variables) {
  const names = new Set(variables.map(({ variable }) => variable));
  const isOne = (/** @type {string} */ line) => names.has(/^#([A-Z0-9_]+)=/.exec(line)?.[1] ?? '');
  const lines = text.split('\n');
  const at = lines.findIndex(isOne);
  const others = lines.filter((line) => !isOne(line));
  others.splice(at, 0, ...variables.map(({ variable, example }) => `#${variable}=${example}`));
  return others.join('\n');
}

/**
 * @param {string} text of config/example.env
 * @returns {string} the same with the variables of all standard providers
 */
export function withStandardVariables(text) {
  const credentials = standardKinds.flatMap((kind) => {
    const { id, secret } = standardProviders[kind].credentials;
    return [id, secret].map(({ variable, printed }) => ({ variable, example: printed }));
  });
  const addresses = standardKinds.map((kind) => ({
    variable: standardProviders[kind].urlVariable,
    example: `https://${kind}.stand-in.example.com`,
  }));
  return withVariables(withVariables(text, credentials), addresses);
}

/** @param {import('../../config/standard-providers.ts').StandardProvider['emailVerification']} verification */
const toVerification = (verification) =>
  'claim' in verification ? `when it says so (\`${verification.claim}\`)` : `never: ${verification.none}`;

/** The rows of the table of docs/providers.md. */
const toRows = () =>
  standardKinds.map((kind) => {
    const { name, credentials, registration, emailVerification } = standardProviders[kind];
    const variables = `\`${credentials.id.variable}\`, \`${credentials.secret.variable}\``;
    return `| ${name} | \`${kind}\` | ${variables} | ${registration} | ${toVerification(emailVerification)} |`;
  });

/**
 * @param {string} text of docs/providers.md
 * @returns {string} the same with the row of each standard provider
 */
export function withStandardRows(text) {
  const heading = /(\| provider \| id \|[^\n]+\n\| ---[^\n]+\n)(?:\|[^\n]+\n)*/;
  if (!heading.test(text)) throw new Error('docs/providers.md has no table of the well-known providers');
  return text.replace(heading, (_, head) => `${head}${toRows().join('\n')}\n`);
}

const fields = { email: 'e-mail address', givenName: 'given name', familyName: 'family name', wholeName: 'whole name' };

/**
 * @param {string} text of docs/providers.md
 * @returns {string} the same with the names of SAML attributes that are known
 */
export function withAttributeRows(text) {
  const heading = /(\| attribute in SAML \| what \|[^\n]+\n\| ---[^\n]+\n)(?:\|[^\n]+\n)*/;
  if (!heading.test(text)) throw new Error('docs/providers.md has no table of the attributes in SAML');
  const rows = samlAttributes.map(
    ({ name, field, products }) => `| \`${name}\` | ${fields[field]} | ${products.join(', ')} |`,
  );
  return text.replace(heading, (_, head) => `${head}${rows.join('\n')}\n`);
}
