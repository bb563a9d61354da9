"""Jobs: one file, many projects, every night; gates, summaries, comparisons and queues."""
