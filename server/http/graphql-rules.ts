import { type ASTNode, GraphQLError, NoSchemaIntrospectionCustomRule, type ValidationRule } from 'graphql';

/** Enough for introspection in development; queries for the schema's own types are much shallower. */
const maxDepth = 15;

const refuse = (message: string, nodes: ASTNode | readonly ASTNode[]) => new GraphQLError(message, { nodes });

/** Aliases would allow a hundred look-ups at the price of one call. */
const noAliases: ValidationRule = (context) => ({
  Field(node) {
    if (node.alias) context.reportError(refuse('Aliases are not accepted.', node));
  },
});

/** One operation for each call: operations that do not run are not parsed either. */
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

/** Validation rules in addition to those of GraphQL (`security.md`, rule 17). */
export const graphqlValidationRules = ({ introspection }: { introspection: boolean }): ValidationRule[] => [
  noAliases,
  oneOperation,
  notDeep,
  ...(introspection ? [] : [NoSchemaIntrospectionCustomRule]),
];
