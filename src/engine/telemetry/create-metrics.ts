// Histograms and counters of one instance, in the form that is exported. The number of series is bounded: a model may invent
// names of tools.
import { type Attributes, encodeAttributes, nano, withoutSecrets } from "./otlp.ts"

export type Histogram = { name: string; unit: string; description: string; bounds: readonly number[] }
type Series = {
  attributes: Attributes
  count: number
  sum: number
  min: number
  max: number
  buckets: number[]
}
type Metric = { about: Histogram | Counter; series: Map<string, Series> }
type Counter = Omit<Histogram, "bounds">

const mostSeries = 200
const overflow: Attributes = { "otel.metric.overflow": true }

export function createMetrics({ isDelta }: { isDelta: boolean }) {
  const metrics = new Map<string, Metric>()
  let start = Date.now()

  return Object.freeze({ record, count, take })

  function record(about: Histogram, value: number, attributes: Attributes): void {
    const series = seriesOf(about, attributes)
    series.count++
    series.sum += value
    series.min = Math.min(series.min, value)
    series.max = Math.max(series.max, value)
    const at = about.bounds.findIndex((bound) => value <= bound)
    const bucket = at < 0 ? about.bounds.length : at
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1
  }

  function count(about: Counter, by: number, attributes: Attributes): void {
    seriesOf(about, attributes).sum += by
  }

  function seriesOf(about: Histogram | Counter, attributes: Attributes): Series {
    let metric = metrics.get(about.name)
    if (!metric) {
      metric = { about, series: new Map() }
      metrics.set(about.name, metric)
    }
    const key = JSON.stringify(attributes)
    const known = metric.series.get(key)
    if (known) return known
    if (metric.series.size >= mostSeries && attributes !== overflow) return seriesOf(about, overflow)
    const length = "bounds" in about ? about.bounds.length + 1 : 0
    const buckets = Array.from({ length }, () => 0)
    const made = { attributes, count: 0, sum: 0, min: Infinity, max: -Infinity, buckets }
    metric.series.set(key, made)
    return made
  }

  /** The metrics as JSON, one text each; none if nothing was recorded. With delta temporality they begin anew. */
  function take(): string[] {
    const now = Date.now()
    const times = { startTimeUnixNano: nano(start), timeUnixNano: nano(now) }
    const taken = [...metrics.values()].map(({ about, series }) =>
      withoutSecrets((text) =>
        encode(about, [...series.values()], { times, text, temporality: isDelta ? 1 : 2 }),
      ),
    )
    if (isDelta) {
      metrics.clear()
      start = now
    }
    return taken
  }
}

function encode(
  about: Histogram | Counter,
  all: Series[],
  { times, text, temporality }: { times: object; text: (value: string) => string; temporality: number },
): object {
  const { name, unit, description } = about
  const points = all.map(({ attributes, count, sum, min, max, buckets }) => {
    const common = { attributes: encodeAttributes(attributes, text), ...times }
    if (!("bounds" in about)) return { ...common, asInt: String(sum) }
    const bucketCounts = buckets.map(String)
    return { ...common, count: String(count), sum, min, max, bucketCounts, explicitBounds: about.bounds }
  })
  const data = { aggregationTemporality: temporality, dataPoints: points }
  const kind = "bounds" in about ? { histogram: data } : { sum: { ...data, isMonotonic: true } }
  return { name, description, unit, ...kind }
}
