"""Tests of report.html in a headless Chromium."""
