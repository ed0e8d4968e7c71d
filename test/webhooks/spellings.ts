/**
 * Hosts in URLs that lead, or that a parser somewhere might lead, to an address which is not public.
 * Each line is one kind of spelling or one block of addresses.
 */
export const blockedHosts = hosts(`
  # Loopback: dotted, short, decimal, octal, hexadecimal, mixed, percent-encoded, full width, dotted end.
  127.0.0.1 127.1 127.0.1 127.255.255.254 127.0.0.1. 2130706433 2130706433. 0177.0.0.1 0177.0.0.01
  017700000001 0177.1 0x7f.0.0.1 0x7f.1 0x7f000001 0X7F000001 0x7f.0x0.0x0.0x1 127.0x0.01
  %31%32%37.0.0.1 127%2e0%2e0%2e1 127.0.0.%31 %30x7f.1 １２７.０.０.１ 127。0。0。1 ⑫7.0.0.1 ①②⑦.⓪.⓪.①
  # Names that mean this machine.
  localhost LOCALHOST localhost. LocalHost. api.localhost a.b.LOCALHOST. ⓛocalhost %6cocalhost
  # IPv6 loopback and unspecified.
  [::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [::] [0::0]
  # IPv4 inside IPv6: mapped, mapped in hexadecimal, upper case, translated, compatible.
  [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:7F00:0001] [0:0:0:0:0:ffff:10.0.0.1] [::ffff:a9fe:a9fe]
  [::ffff:0:127.0.0.1] [::127.0.0.1] [::7f00:1] [::ffff:8.8.8.8.]
  # NAT64, both prefixes: also around public addresses.
  [64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b::a9fe:a9fe] [64:ff9b::808:808] [64:ff9b:1::7f00:1]
  [64:ff9b:1:ffff:ffff:ffff:10.0.0.1] [64:ff9b:1::808:808]
  # 6to4 and Teredo.
  [2002:7f00:1::] [2002:7f00:1::1] [2002:a9fe:a9fe::] [2002:808:808::1] [2001::1] [2001:0:7f00:1::]
  [2001:0000:4136:e378:8000:63bf:3fff:fdd2]
  # Private networks.
  10.0.0.1 10.255.255.255 10.1 0xa000001 167772161 012.0.0.1 172.16.0.1 172.31.255.255 192.168.0.1
  192.168.257 3232235521 0xc0a80001 0300.0250.0.1 [fc00::1] [fd00::1] [fdff:ffff::1] [FD12:3456:789A::1]
  [fec0::1]
  # Link-local, with the metadata services of clouds.
  169.254.169.254 169.254.0.1 169.254.170.2 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518
  [fe80::1] [febf::1] [fd00:ec2::254] [FD00:EC2::254] [fe80::a9fe:a9fe] [fd20:ce::254] 100.100.100.200
  192.0.0.192 168.63.129.16
  # Carrier-grade NAT, this network, protocol assignments, relays, benchmarks.
  100.64.0.1 100.127.255.255 0.0.0.0 0 0.1 0x0 00000 0.255.255.255 192.0.0.1 192.0.0.8 192.88.99.1
  192.52.193.1 192.31.196.1 192.175.48.1 198.18.0.1 198.19.255.255 [2001:2::1] [2001:10::1] [2001:20::1]
  [2001:db8:1::1]
  # Documentation.
  192.0.2.1 198.51.100.1 203.0.113.1 [2001:db8::1] [2001:DB8:ffff::] [3fff::1] [3fff:fff::1]
  # Multicast, reserved, broadcast, discard, segment routing, not yet assigned.
  224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.254 255.255.255.255 4294967295 0xffffffff [ff02::1]
  [ff0e::1] [100::1] [5f00::1] [4000::1] [1000::1] [e000::1]
  # What is no address and no name.
  127.0.0.256 256.1 4294967296 0x100000000 1.2.3.4.5 08.0.0.1 [::1 [::1%25eth0] [fe80::1%eth0]
  127.0.0.1%00.example.com 127.0.0.1%20 exa%mple.com
`)

/** Hosts that are blocked on a private network, too: each in whatever way a URL can name it. */
export const metadataHosts = hosts(`
  # Link-local and the metadata services of clouds.
  169.254.169.254 169.254.0.1 169.254.170.2 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518
  [fe80::1] [febf::1] [fd00:ec2::254] [FD00:EC2::254] [fd00:0ec2:0:0::254] [fe80::a9fe:a9fe] [fd20:ce::254]
  100.100.100.200 192.0.0.192 168.63.129.16
  # Inside IPv6: mapped, translated, compatible, NAT64, 6to4, Teredo.
  [::ffff:169.254.169.254] [::ffff:a9fe:a9fe] [::FFFF:A9FE:A9FE] [::ffff:0:169.254.169.254] [::169.254.169.254]
  [64:ff9b::169.254.169.254] [64:ff9b::a9fe:a9fe] [64:ff9b:1::a9fe:a9fe] [2002:a9fe:a9fe::] [2001:0:a9fe:a9fe::]
  [::ffff:168.63.129.16] [64:ff9b::10.0.0.1] [2002:7f00:1::1]
  # Unspecified, multicast, broadcast, reserved, carrier-grade NAT.
  0.0.0.0 0 [::] [::ffff:0.0.0.0] 224.0.0.1 239.255.255.255 [ff02::1] [ff0e::1] 255.255.255.255 240.0.0.1 100.64.0.1
  [fec0::1] [100::1]
`)

/** Hosts that are public, some of them close to a block that is not. */
export const publicHosts = hosts(`
  example.com EXAMPLE.com hooks.example.com hooks.example.com:8443 localhost.example.com mylocalhost
  127.0.0.1.example.com xn--bcher-kva.example 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255
  100.128.0.0 126.255.255.255 128.0.0.1 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0
  192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 [2606:4700:4700::1111]
  [2a00:1450:4001::1] [2003::1] [::ffff:8.8.8.8] 134744072 0x08080808
`)

function hosts(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => !line.trim().startsWith('#'))
    .flatMap((line) => line.split(' '))
    .filter((host) => host !== '')
}
