/** The ids of the page's parts: links from outside use them, so they stay as they are. */
export const callAnchor = (operationId: string): string => `call-${operationId}`;
export const schemaAnchor = (name: string): string => `schema-${name}`;
export const problemAnchor = (name: string): string => `problem-${name}`;
export const securityAnchor = (name: string): string => `security-${name}`;
export const tagAnchor = (name: string): string => `tag-${name.toLowerCase().replaceAll(/[^a-z\d]+/g, '-')}`;
