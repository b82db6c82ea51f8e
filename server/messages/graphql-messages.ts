import { z } from 'zod';
import { doc, GraphqlError, type GraphqlPart, HttpError, isMalformed, resolveRequestedUser } from '../http/index.ts';
import {
  createNotificationReader,
  type ListedNotification,
  listedMessage,
  maxOfAPage,
  type ReadMessagesDeps,
  readCursor,
} from './read-messages.ts';

/** Notifications with the type names that AWS Amplify gives a model `Message`. */
const schema = `
  "A time of ISO 8601"
  scalar AWSDateTime

  extend type Query {
    "Notifications: those of security changes first, then the newest first. A service names the member."
    listMessages(
      filter: ModelMessageFilterInput
      "How many at most: 1 to 100, by default 50"
      limit: Int
      "Of the page before"
      nextToken: String
    ): ModelMessageConnection
  }

  type Mutation {
    "Marks a notification of the member as read"
    readMessage(id: ID!): Message
    "Marks all notifications of the member as read"
    readAllMessages: MessagesRead
  }

  input ModelMessageFilterInput {
    userId: ModelMessageUserInput
    status: ModelMessageStatusInput
  }

  input ModelMessageUserInput {
    eq: ID
  }

  input ModelMessageStatusInput {
    eq: MessageStatus
  }

  enum MessageStatus {
    unread
    read
  }

  type ModelMessageConnection {
    items: [Message!]!
    nextToken: String
    "Amplify's own field, always null"
    startedAt: Timestamp
  }

  type Message {
    id: ID!
    title: String!
    description: String!
    category: String!
    userId: ID!
    status: MessageStatus!
    "It reports a change to how the member signs in"
    security: Boolean!
    email: String
    action: String
    plan: String
    pagename: String
    actiondescription: String
    fullname: String
    company: String
    jobTitle: String
    createdAt: AWSDateTime!
    updatedAt: AWSDateTime!
    "Amplify's own fields, always null"
    _version: Int
    _deleted: Boolean
    _lastChangedAt: Timestamp
  }

  type MessagesRead {
    "How many had not been read"
    read: Int!
  }
`;

const typeName = z.string().optional().meta(doc('Name of the GraphQL type', 'Message'));

const message = listedMessage
  .extend({ __typename: z.string().meta(doc('Name of the GraphQL type', 'Message')) })
  .partial()
  .meta({ id: 'GraphqlMessage', description: 'The queried fields of a notification.' });

const connection = z
  .object({
    __typename: typeName,
    items: z.array(message).optional().meta(doc('The notifications of this page')),
    nextToken: z
      .string()
      .nullish()
      .meta(doc('For the next page; null: there is none', '0~0197c2a5-0c11-7f3e-8a55-5be1f0a9c3d2')),
  })
  .meta({ id: 'GraphqlMessageConnection', description: 'The result of listMessages.' });

const allRead = z
  .object({ __typename: typeName, read: z.int().optional().meta(doc('How many had not been read', 3)) })
  .meta({ id: 'GraphqlMessagesRead', description: 'The result of readAllMessages.' });

/** Maximum length of an id. */
const maxCharacters = 100;

interface Arguments {
  filter?: { userId?: { eq?: string | null } | null; status?: { eq?: 'unread' | 'read' | null } | null } | null;
  limit?: number | null;
  nextToken?: string | null;
}

/** The notifications of a member by GraphQL, with the rules of the calls below `/messages`. */
export function graphqlMessages(deps: ReadMessagesDeps): GraphqlPart {
  const { listPage, markOne, markAll } = createNotificationReader(deps);
  return {
    schema,
    data: {
      listMessages: connection.nullish().meta(doc('The notifications of a member')),
      readMessage: message.nullish().meta(doc('The notification that was marked as read')),
      readAllMessages: allRead.nullish().meta(doc('How many were marked as read')),
    },
    resolvers: {
      async listMessages({ filter, limit, nextToken }: Arguments, { req }) {
        if (limit != null && (limit < 1 || limit > maxOfAPage)) throw new GraphqlError(`limit: 1 to ${maxOfAPage}`);
        const after = nextToken == null ? undefined : readCursor(nextToken);
        if (nextToken != null && after === undefined) throw new GraphqlError('nextToken: that of an earlier page');
        const named = filter?.userId?.eq ?? undefined;
        const userId = resolveRequestedUser(req, named, 'filter.userId.eq');
        if (isMalformed(userId, maxCharacters)) throw new HttpError('unknownMember', { detail: 'no such user' });
        const { items, nextCursor } = await listPage(userId, {
          status: filter?.status?.eq ?? undefined,
          limit: limit ?? undefined,
          after,
        });
        return { items, nextToken: nextCursor };
      },
      async readMessage({ id }: { id: string }, { req }): Promise<ListedNotification> {
        if (isMalformed(id, maxCharacters))
          throw new HttpError('unknownNotification', { detail: 'no such notification' });
        return markOne(resolveRequestedUser(req, undefined, 'id'), id);
      },
      readAllMessages: async (_: object, { req }) => markAll(resolveRequestedUser(req, undefined, 'readAllMessages')),
    },
  };
}
