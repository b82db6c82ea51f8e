/** The process of the load generator, which sends all requests. */
import { serve } from '../rpc.ts';
import { usage } from '../setting.ts';
import { flood, honestSignIns } from './flood.ts';
import { deviceOnly, openAll, signInAll, signInArrivals, signInsPerSecond } from './members.ts';
import { type RelyingParty, relyingParty } from './relying-party.ts';
import { type Arrivals, memberArrivals, pageArrivals, pagesPerSecond, waitingTimes } from './visitors.ts';

export type Side = 'foyer' | 'bare';
interface Target {
  side: Side;
  port: number;
}

const parties = new Map<number, RelyingParty>();
const devices = new Map<number, string[]>();
const openedSessions = new Map<number, string[]>();

function party(port: number): RelyingParty {
  const known = parties.get(port);
  if (!known) throw new Error(`no one has signed in at port ${port}`);
  return known;
}

const handlers = {
  usage,
  flood,
  honestSignIns,
  async openSessions({ side, port, members, atOnce }: Target & { members: number; atOnce: number }): Promise<void> {
    const sessions = await (side === 'foyer' ? signInAll : openAll)(port, members);
    openedSessions.set(port, sessions);
    parties.set(port, relyingParty(port, sessions, atOnce));
    if (side === 'foyer') devices.set(port, deviceOnly(sessions));
  },
  authorize: ({ port, count }: { port: number; count: number }) => party(port).authorize(count),
  exchange: ({ port }: { port: number }) => party(port).exchange(),
  refresh: ({ port }: { port: number }) => party(port).refresh(),
  userinfo: ({ port, count }: { port: number; count: number }) => party(port).userinfo(count),
  signIns: ({ port, ...how }: { port: number; ms: number; atOnce: number }) =>
    signInsPerSecond(port, devices.get(port) ?? [], how),
  pages: ({ port, ...how }: { port: number; ms: number; atOnce: number; development?: boolean }) =>
    pagesPerSecond(port, how),
  arrivals: ({ port, ...how }: { port: number; ms: number; perSecond: number }): Promise<Arrivals> =>
    pageArrivals(port, how),
  signInArrivals: ({ port, ...how }: { port: number; ms: number; perSecond: number }): Promise<Arrivals> =>
    signInArrivals(port, devices.get(port) ?? [], how),
  memberArrivals: ({ port, ...how }: { port: number; ms: number; perSecond: number }): Promise<Arrivals> =>
    memberArrivals(port, openedSessions.get(port) ?? [], how),
  waiting: ({ port, ...how }: { port: number; ms: number; perSecond: number }) => waitingTimes(port, how),
};
export type Generator = typeof handlers;
serve(handlers);
