/** The parts of an OpenAPI 3.1 document that the page shows. */
export interface ApiDocument {
  info: { title: string; description: string };
  servers: readonly { url: string }[];
  tags: readonly { name: string; description: string }[];
  /** By path, then by method. */
  paths: Readonly<Record<string, Readonly<Record<string, DocumentedCall>>>>;
  components: {
    schemas: Readonly<Record<string, DocumentedSchema>>;
    securitySchemes: Readonly<Record<string, SecurityScheme>>;
  };
}

export interface DocumentedCall {
  operationId: string;
  'x-aliases'?: readonly string[];
  tags: readonly string[];
  summary: string;
  description: string;
  /** Any one is enough: scopes by the name of the scheme; without a name, the call is open to anyone. */
  security: readonly Readonly<Record<string, readonly string[]>>[];
  parameters?: readonly DocumentedParameter[];
  requestBody?: { required: boolean; content: DocumentedContent };
  /** By status, or `default`. */
  responses: Readonly<Record<string, DocumentedResponse>>;
}

export interface DocumentedParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: DocumentedSchema;
  example?: unknown;
}

/** By media type. */
export type DocumentedContent = Readonly<Record<string, { schema: DocumentedSchema; example?: unknown }>>;

interface DocumentedResponse {
  description: string;
  content: DocumentedContent;
}

export interface SecurityScheme {
  type: string;
  description: string;
  scheme?: string;
  flows?: Readonly<Record<string, { scopes: Readonly<Record<string, string>> }>>;
}

/** A JSON Schema (draft 2020-12). */
export interface DocumentedSchema {
  type?: string | readonly string[];
  format?: unknown;
  enum?: readonly unknown[];
  examples?: readonly unknown[];
  properties?: Readonly<Record<string, DocumentedSchema>>;
  required?: readonly string[];
  items?: DocumentedSchema;
  anyOf?: readonly DocumentedSchema[];
  additionalProperties?: unknown;
  $ref?: string;
  description?: string;
  minLength?: unknown;
  maxLength?: unknown;
  minimum?: unknown;
  maximum?: unknown;
  minItems?: unknown;
  maxItems?: unknown;
  pattern?: unknown;
}

/** A problem type of the API, for its row in the table. */
export interface DocumentedProblem {
  name: string;
  /** The URI in `type`. */
  type: string;
  status: number;
  title: string;
  cause: string;
  /** The action that a caller takes. */
  remedy: string;
}
