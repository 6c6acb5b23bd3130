/**
 * Addresses that anybody on the internet has: the only ones that events are sent to, unless the
 * configuration says otherwise. A webhook that may point inwards lets whoever makes one look
 * around in the network of the server.
 */
import { BlockList, isIP } from "node:net";

const PRIVATE: readonly (readonly [address: string, bits: number, family: "ipv4" | "ipv6"])[] = [
  ["0.0.0.0", 8, "ipv4"],
  ["10.0.0.0", 8, "ipv4"],
  ["100.64.0.0", 10, "ipv4"],
  ["127.0.0.0", 8, "ipv4"],
  ["169.254.0.0", 16, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.0.0.0", 24, "ipv4"],
  ["192.0.2.0", 24, "ipv4"],
  ["192.88.99.0", 24, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  ["198.18.0.0", 15, "ipv4"],
  ["198.51.100.0", 24, "ipv4"],
  ["203.0.113.0", 24, "ipv4"],
  ["224.0.0.0", 3, "ipv4"],
];

/** Of IPv6 only this is given to anybody; what wraps an IPv4 address is judged by that address. */
const GLOBAL_IPV6: readonly [string, number] = ["2000::", 3];
/** Within it: documentation, and two ways of tunnelling. */
const SPECIAL_IPV6: readonly (readonly [string, number])[] = [
  ["2001:db8::", 32],
  ["2001::", 23],
  ["2002::", 16],
  ["3fff::", 20],
];

const blocked = new BlockList();
for (const [address, bits, family] of PRIVATE) blocked.addSubnet(address, bits, family);
for (const [address, bits] of SPECIAL_IPV6) blocked.addSubnet(address, bits, "ipv6");
const global6 = new BlockList();
global6.addSubnet(...GLOBAL_IPV6, "ipv6");

/** False also for what is no address. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !blocked.check(address, "ipv4");
    case 6:
      return global6.check(address, "ipv6") && !blocked.check(address, "ipv6");
    default:
      return false;
  }
}

/** The address that a host of a URL is, without its brackets; null for a name. */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? null : bare;
}
