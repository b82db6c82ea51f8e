import { type ASTNode, GraphQLError, NoSchemaIntrospectionCustomRule, type ValidationRule } from 'graphql';

/** Deep enough for the introspection of development; what the schema itself opens ends long before. */
const maxDepth = 15;

const refuse = (message: string, nodes: ASTNode | readonly ASTNode[]) => new GraphQLError(message, { nodes });

/** One field, one answer: under other names the same look-up could be had a hundred times for the price of one call. */
const noAliases: ValidationRule = (context) => ({
  Field(node) {
    if (node.alias) context.reportError(refuse('Aliases are not accepted.', node));
  },
});

/** One call, one operation: what is not run is not read either. */
const oneOperation: ValidationRule = (context) => ({
  Document({ definitions }) {
    const [, ...more] = definitions.filter(({ kind }) => kind === 'OperationDefinition');
    if (more.length > 0) context.reportError(refuse('Write one operation.', more));
  },
});

const notDeep: ValidationRule = (context) => {
  let depth = 0;
  return {
    SelectionSet: {
      enter(node) {
        depth += 1;
        if (depth === maxDepth + 1) context.reportError(refuse(`Nested more than ${maxDepth} times.`, node));
      },
      leave() {
        depth -= 1;
      },
    },
  };
};

/** What a document must keep beside the language's own rules (`security.md`, rule 17). */
export const graphqlValidationRules = ({ introspection }: { introspection: boolean }): ValidationRule[] => [
  noAliases,
  oneOperation,
  notDeep,
  ...(introspection ? [] : [NoSchemaIntrospectionCustomRule]),
];
