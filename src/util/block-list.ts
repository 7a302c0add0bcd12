// A block list of networks, such as "10.0.0.0/8" and "fc00::/7".
import { BlockList } from "node:net"

export function blockList(...subnets: string[]): BlockList {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [address, bits] = subnet.split("/") as [string, string]
    list.addSubnet(address, Number(bits), address.includes(":") ? "ipv6" : "ipv4")
  }
  return list
}
