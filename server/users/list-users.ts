import type { Request } from 'express';
import { z } from 'zod';
import { doc, GraphqlError, type GraphqlPart, isMalformed, requirePrincipal } from '../http/index.ts';
import { toUserId, type UserId } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import {
  getUserRecord,
  listUserRecords,
  maxUsersPerLookup,
  type UserRecordJson,
  userRecordSchema,
} from './user-record-json.ts';

/** The look-up for existing callers, with the type names that AWS Amplify gives a model `User`. */
const schema = `
  "Any JSON value"
  scalar JSON
  "Milliseconds since the epoch"
  scalar Timestamp

  type Query {
    "User records. Members get their own; a client app names the member, or up to 100 members."
    listUsers(
      filter: ModelUserFilterInput
      "How many at most: not fewer than are named"
      limit: Int
      "There is never a second page"
      nextToken: String
    ): ModelUserConnection
  }

  input ModelUserFilterInput {
    userId: ModelIDInput
  }

  input ModelIDInput {
    eq: ID
    "For services: up to 100 members"
    in: [ID!]
  }

  type ModelUserConnection {
    items: [User!]!
    nextToken: String
    "Amplify's own field, always null"
    startedAt: Timestamp
  }

  type User {
    id: ID!
    userId: ID!
    username: String!
    firstName: String!
    lastName: String!
    jobTitle: String
    company: String
    planId: String
    source: String!
    stripeCustomerId: String
    about: String!
    additionalAttributes: JSON!
    imageName: String
    notificationSetting: JSON!
    socialMediaLinks: JSON!
    status: String!
    totalRewards: String!
    userAttributes: JSON!
    companyCategory: String
    userType: String
    createdAt: Timestamp!
    updatedAt: Timestamp!
    "Amplify's own fields, always null"
    _version: Int
    _deleted: Boolean
    _lastChangedAt: Timestamp
  }
`;

/** Maximum length of a user id. */
const maxCharacters = 100;

interface Arguments {
  filter?: { userId?: { eq?: string | null; in?: readonly string[] | null } | null } | null;
  limit?: number | null;
  nextToken?: string | null;
}

interface Connection {
  items: UserRecordJson[];
  nextToken: string | null;
}

const typeName = z.string().optional().meta(doc('Name of the GraphQL type', 'User'));

const user = userRecordSchema
  .extend({ __typename: z.string().meta(doc('Name of the GraphQL type', 'User')) })
  .partial()
  .meta({ id: 'GraphqlUser', description: 'The queried fields of a user record.' });

const connection = z
  .object({
    __typename: typeName,
    items: z.array(user).optional().meta(doc('One record, or none')),
    nextToken: z.string().nullish().meta(doc('Always null: there is one page', null)),
  })
  .meta({ id: 'GraphqlUserConnection', description: 'The result of listUsers.' });

/** The specification's `listUsers` (section 7), for callers that read the image's name from there. */
export function graphqlUsers(database: Database): GraphqlPart {
  /** Another user's record looks like a missing one, so that ids of users are not revealed. */
  function resolveOwner(req: Request, named: string | undefined): UserId | undefined {
    const principal = requirePrincipal(req);
    if (principal.kind === 'member') {
      return named === undefined || named === principal.userId ? principal.userId : undefined;
    }
    if (named === undefined) throw new GraphqlError('filter.userId.eq: which member is meant');
    return isMalformed(named, maxCharacters) ? undefined : toUserId(named);
  }

  /** For services alone: a member's list could only have their own id. */
  function resolveSeveral(req: Request, named: readonly string[], { filter, limit }: Arguments): UserId[] {
    if (requirePrincipal(req).kind === 'member') throw new GraphqlError('filter.userId.in: for services alone');
    if (filter?.userId?.eq != null) throw new GraphqlError('filter.userId: write eq or in');
    if (named.length > maxUsersPerLookup) throw new GraphqlError(`filter.userId.in: at most ${maxUsersPerLookup} ids`);
    if (limit != null && limit < named.length) throw new GraphqlError('limit: not less than the number of ids');
    return named.filter((one) => !isMalformed(one, maxCharacters)).map(toUserId);
  }

  return {
    schema,
    data: { listUsers: connection.nullish().meta(doc('The look-up of user records')) },
    resolvers: {
      async listUsers(args: Arguments, { req }): Promise<Connection> {
        const { filter, limit, nextToken } = args;
        if (limit != null && limit < 1) throw new GraphqlError('limit: write 1 or more');
        if (nextToken != null) throw new GraphqlError('nextToken: none was given');
        const several = filter?.userId?.in;
        if (several != null) {
          return { items: await listUserRecords(database, resolveSeveral(req, several, args)), nextToken: null };
        }
        const userId = resolveOwner(req, filter?.userId?.eq ?? undefined);
        const record = userId === undefined ? undefined : await getUserRecord(database, userId);
        return { items: record ? [record] : [], nextToken: null };
      },
    },
  };
}
