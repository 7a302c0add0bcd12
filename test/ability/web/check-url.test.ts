// Which URLs may be fetched: addresses that are not public are denied in every spelling, and every address of a name
// must be public.
import assert from "node:assert/strict"
import { test } from "node:test"
import { checkUrl, UrlDenied } from "#index.ts"

const publicly = async () => ["93.184.216.34"]

async function denied(url: string, addresses?: string[], granted?: string[]): Promise<string | undefined> {
  const resolve = addresses ? async () => addresses : publicly
  try {
    await checkUrl(url, { resolve, ...(granted ? { granted } : {}) })
    return undefined
  } catch (error) {
    assert.ok(error instanceof UrlDenied, String(error))
    assert.equal(error.name, "UrlDenied")
    return error.reason
  }
}

test("checkUrl() gives the URL and the address to connect to", async () => {
  const asked: string[] = []
  const resolve = async (host: string) => {
    asked.push(host)
    return ["93.184.216.34", "2606:2800:220:1::1"]
  }
  const checked = await checkUrl("HTTPS://Example.COM:8443/a/../b?q#f", { resolve })
  const url = new URL("https://example.com:8443/b?q#f")
  assert.deepEqual(checked, { url, address: "93.184.216.34" })
  assert.deepEqual(asked, ["example.com"])
  assert.equal((await checkUrl("http://[2606:4700::1111]/", { resolve })).address, "2606:4700::1111")
  assert.deepEqual(asked, ["example.com"])
})

for (const url of [
  ..."http://8.8.8.8 http://172.15.255.255 http://172.32.0.1 http://100.63.0.1 http://100.128.0.1".split(" "),
  ..."http://169.253.1.1 http://192.0.1.1 http://198.17.0.1 http://198.20.0.1 http://223.255.255.255".split(
    " ",
  ),
  ..."http://[2001:4860:4860::8888] http://[2a00:1450::1] http://[2001:200::1] http://[2003::1]".split(" "),
])
  test(`checkUrl() lets ${url} through`, async () => {
    assert.equal(await denied(url), undefined)
  })

const loopback =
  "127.0.0.1 127.255.255.254 127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 0x7f.1 017700000001 0177.0.0.1 0177.1 0300.0250.1 127.0.0.1. 127。0。0。1 ①②⑦.⓪.⓪.① %31%32%37.0.0.1 localhost LOCALHOST localhost. a.localhost 0 0.0.0.0 0x0 00"
const special =
  "10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 192.168.255.255 169.254.169.254 0xa9fea9fe 2852039166 169.254.0.1 100.64.0.1 100.127.255.255 100.100.100.200 192.0.0.192 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 0.1.2.3 168.63.129.16"
const six =
  "::1 :: 0:0:0:0:0:0:0:1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:8.8.8.8 0:0:0:0:0:ffff:a00:1 ::127.0.0.1 ::a9fe:a9fe fc00::1 fd00:ec2::254 fdff::1 fe80::1 febf::1 fec0::1 ff02::1 ff0e::1 64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::1 100::1 2001::1 2001:0:7f00:1::1 2001:2::1 2001:10::1 2001:db8::1 2002:7f00:1::1 2002:808:808::1 3fff::1 5f00::1 4000::1"
for (const host of [
  ...loopback.split(" "),
  ...special.split(" "),
  ...six.split(" ").map((each) => `[${each}]`),
])
  test(`checkUrl() denies http://${host}/`, async () => {
    assert.equal(await denied(`http://${host}/`), "address")
    assert.equal(await denied(`https://${host}:8443/x`), "address")
  })

test("checkUrl() denies other schemes, user names and invalid URLs, and shows no password", async () => {
  for (const url of [
    "file:///etc/passwd",
    "ftp://example.com/",
    "data:text/html,x",
    "javascript:1",
    "gopher://x/",
    "ws://example.com",
    "blob:https://example.com/1",
  ])
    assert.equal(await denied(url), "scheme", url)
  for (const url of [
    "http://user@example.com/",
    "http://:secret@example.com/",
    "http://example.com@127.0.0.1/",
  ])
    assert.equal(await denied(url), "credentials", url)
  for (const url of [
    "",
    "example.com",
    "//example.com",
    "http://",
    "http://a b/",
    "http://[::1",
    "http://1.2.3.4.5/",
    "http://256.256.256.256/",
    "http://[fe80::1%25eth0]/",
  ])
    assert.equal(await denied(url), "invalid", url)
  await assert.rejects(
    checkUrl("https://me:hunter22@example.com/", { resolve: publicly }),
    (error: Error) => {
      assert.doesNotMatch(JSON.stringify([error.message, (error as UrlDenied).data]), /hunter22/)
      return true
    },
  )
})

test("checkUrl() denies a name when any of its addresses is not public, or it has none", async () => {
  for (const address of [
    "127.0.0.1",
    "10.1.2.3",
    "169.254.169.254",
    "::1",
    "::ffff:10.0.0.1",
    "fe80::1%eth0",
    "fd12::1",
    "nonsense",
    "",
  ])
    for (const addresses of [[address], ["93.184.216.34", address], [address, "2606:4700::1111"]])
      assert.equal(await denied("https://rebind.example/", addresses), "address", address)
  assert.equal(await denied("https://gone.example/", []), "unresolved")
  const resolve = () => Promise.reject(new Error("queryA ESERVFAIL"))
  await assert.rejects(checkUrl("https://gone.example/", { resolve }), {
    name: "UrlDenied",
    reason: "unresolved",
  })
})

test("checkUrl() lets a private address through for exactly the origin that was granted", async () => {
  const granted = ["http://127.0.0.1:8080", "https://wiki.corp"]
  assert.equal(await denied("http://127.0.0.1:8080/x", undefined, granted), undefined)
  assert.equal(await denied("http://2130706433:8080/x", undefined, granted), undefined)
  assert.equal(await denied("http://127.0.0.1:8081/x", undefined, granted), "address")
  assert.equal(await denied("https://127.0.0.1:8080/x", undefined, granted), "address")
  assert.equal(await denied("http://localhost:8080/x", undefined, granted), "address")
  assert.equal(await denied("https://wiki.corp/page", ["10.0.0.7"], granted), undefined)
  assert.equal(await denied("https://wiki.corp.example/page", ["10.0.0.7"], granted), "address")
  assert.equal(await denied("http://user@127.0.0.1:8080/", undefined, granted), "credentials")
})
