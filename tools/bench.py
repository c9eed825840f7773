"""Every measurement of the project, one after another: ``make bench``."""

from tools import bench_browser

if __name__ == "__main__":
    bench_browser.main()
